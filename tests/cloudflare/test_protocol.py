"""What the product asks of a client is what RestClient has: no more and no less."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import batchui
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.protocol import BatchClient


def methods(client: type) -> dict[str, Callable[..., Any]]:
    """Its public methods; while mutants are tested, those of mutmut are beside them."""
    found = inspect.getmembers(client, inspect.isfunction)
    return {
        name: method
        for name, method in found
        if not name.startswith("_") and "__mutmut_" not in name
    }


def test_the_client_and_the_protocol_have_the_same_methods() -> None:
    assert set(methods(RestClient)) == set(methods(BatchClient))


@pytest.mark.parametrize("name", methods(BatchClient))
def test_a_method_may_be_called_as_the_protocol_says(name: str) -> None:
    promised = inspect.signature(methods(BatchClient)[name])
    real = inspect.signature(methods(RestClient)[name])
    more = list(real.parameters.values())[len(promised.parameters) :]
    assert all(parameter.default is not parameter.empty for parameter in more)
    kept = [parameter for parameter in real.parameters.values() if parameter not in more]
    assert real.replace(parameters=kept) == promised


def test_only_one_module_of_the_product_knows_which_client_it_is() -> None:
    product = Path(batchui.__file__).parent
    # Chaos kills the process before and after the calls of the real client.
    beside = {"cloudflare", "chaos"}
    others = [path for path in product.rglob("*.py") if path.parent.name not in beside]
    naming = [path for path in others if "RestClient" in path.read_text()]
    assert naming == [product / "teams" / "connections.py"]
