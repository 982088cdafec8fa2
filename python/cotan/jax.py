"""Functions of Cotan in JAX: called on the host (jax.pure_callback), with a custom derivative that is Cotan's."""
import jax
import jax.numpy as jnp
import numpy

from ._model import parameter_indices


def function(f, wrt=0):
    """A function of JAX whose value and derivative are those of a function of Cotan from arrays and numbers to a Double.

    It is differentiated with respect to the parameters `wrt` (a name, a number, or a tuple of them); the others have no derivative. Doubles need
    jax.config.update("jax_enable_x64", True)."""
    indices = parameter_indices(f, wrt if isinstance(wrt, tuple) else (wrt,))
    gradient = f.value_and_grad._variant(indices, None)

    def value_on_host(*args):
        return numpy.float64(f(*map(_plain, args)))

    def gradient_on_host(*args):
        value, slopes = gradient(*map(_plain, args))
        slopes = slopes if len(indices) > 1 else (slopes,)
        return numpy.float64(value), *(numpy.asarray(slope, numpy.float64) for slope in slopes)

    scalar = jax.ShapeDtypeStruct((), numpy.float64)

    @jax.custom_vjp
    def call(*args):
        return jax.pure_callback(value_on_host, scalar, *args, vmap_method="sequential")

    def forward(*args):
        shapes = [jax.ShapeDtypeStruct(numpy.shape(args[i]), numpy.float64) for i in indices]
        value, *slopes = jax.pure_callback(gradient_on_host, (scalar, *shapes), *args, vmap_method="sequential")
        return value, (slopes, args)

    def backward(kept, cotangent):
        slopes, args = kept
        out = [_zero(arg) for arg in args]
        for i, slope in zip(indices, slopes):
            out[i] = cotangent * slope
        return tuple(out)

    call.defvjp(forward, backward)
    return call


def _plain(array):
    """A number of an array without dimensions."""
    array = numpy.asarray(array)
    return array.item() if array.ndim == 0 else array


def _zero(arg):
    array = jnp.asarray(arg)
    if jnp.issubdtype(array.dtype, jnp.floating):
        return jnp.zeros_like(array)
    return numpy.zeros(array.shape, jax.dtypes.float0)
