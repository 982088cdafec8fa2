"""The three models of this folder, fitted from Python: pandas reads the data, SciPy searches, Cotan gives values, gradients and Hessians.

    python examples/fit/fit.py
"""
import pathlib

import numpy
import pandas
from scipy.optimize import minimize

import cotan

FOLDER = pathlib.Path(__file__).resolve().parent


def fit(loss, start, *data):
    """The parameters at which a loss is least, its value there, and standard errors: of a negative log-likelihood, the square roots of the
    diagonal of the inverse Hessian. `start` is as the loss takes its first argument, and so are the parameters and errors."""
    vector, unflatten = cotan.flatten(start)

    def value_and_slope(vector):
        value, slope = loss.value_and_grad(unflatten(vector), *data, wrt=0)
        return value, cotan.flatten(slope)[0]

    def curvature(vector):
        return numpy.array([cotan.flatten(row)[0] for row in loss.hessian(unflatten(vector), *data, wrt=0)])

    found = minimize(value_and_slope, vector, jac=True, method="BFGS", options={"gtol": 1e-6})
    errors = numpy.sqrt(numpy.linalg.inv(curvature(found.x)).diagonal())
    return unflatten(found.x), found.fun, unflatten(errors)


def irises():
    model = cotan.load(FOLDER / "irises.cot")
    flowers = pandas.read_csv(FOLDER / "irises.csv")[["petal_length", "petal_width", "species"]]
    return fit(model.loss, numpy.zeros(3), flowers.to_dict("records"))


def sunspots():
    model = cotan.load(FOLDER / "sunspots.cot")
    years = pandas.read_csv(FOLDER / "sunspots.csv")
    return fit(model.loss, model.Oscillator(period=11.0, decay=5.0, mean=40.0, shock=20.0), years["number"])


def schools():
    model = cotan.load(FOLDER / "schools.cot")
    schools = pandas.read_csv(FOLDER / "schools.csv")[["effect", "error"]]
    return fit(model.loss, model.Schools(mean=0.0, logSpread=1.0), schools.to_dict("records"))


if __name__ == "__main__":
    for model in (irises, sunspots, schools):
        parameters, value, errors = model()
        print(f"{model.__name__}: {value:.6f}\n  parameters {parameters}\n  errors     {errors}")
