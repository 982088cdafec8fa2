"""Functions of Cotan in PyTorch: an autograd.Function whose derivative is Cotan's."""
import numpy
import torch

from ._model import parameter_indices


def function(f, wrt=0):
    """A function of tensors whose value and derivative are those of a function of Cotan from arrays and numbers to a Double.

    It is differentiated with respect to the parameters `wrt` (a name, a number, or a tuple of them). Tensors are in the processor's memory; those of
    doubles are not copied."""
    indices = parameter_indices(f, wrt if isinstance(wrt, tuple) else (wrt,))
    gradient = f.value_and_grad._variant(indices, None)

    class Call(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *args):
            plain = [_plain(arg) for arg in args]
            value, slopes = gradient(*plain)
            slopes = slopes if len(indices) > 1 else (slopes,)
            ctx.count = len(args)
            ctx.save_for_backward(*(torch.as_tensor(numpy.asarray(slope)) for slope in slopes))
            return torch.tensor(value, dtype=torch.float64)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, cotangent):
            out = [None] * ctx.count
            for i, slope in zip(indices, ctx.saved_tensors):
                out[i] = cotangent * slope
            return tuple(out)

    return Call.apply


def _plain(arg):
    if not isinstance(arg, torch.Tensor):
        return arg
    return arg.item() if arg.ndim == 0 else arg.detach()
