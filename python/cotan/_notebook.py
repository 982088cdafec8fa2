"""%%cotan NAME: the cell is a program, which becomes the model NAME (`model` without a name)."""
import shlex

from ._model import source


def register(ipython):
    def cotan(line, cell):
        """%%cotan [NAME] [--evaluator] [--threads N]: makes the cell's program a model."""
        words, name, options = shlex.split(line), "model", {}
        while words:
            word = words.pop(0)
            if word == "--evaluator":
                options["native"] = False
            elif word == "--threads":
                options["threads"] = int(words.pop(0))
            else:
                name = word
        made = source(cell, f"<{name}>", **options)
        if made.warnings:
            print(made.warnings)
        ipython.push({name: made})

    ipython.register_magic_function(cotan, "cell", "cotan")
