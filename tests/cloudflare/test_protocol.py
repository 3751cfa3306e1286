"""What the product asks of a client is what each client has: no more and no less."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import batchui
from batchui.cloudflare.client import RestClient
from batchui.cloudflare.event_queue import EventClient
from batchui.cloudflare.protocol import BatchClient
from batchui.cloudflare.worker_client import WorkerClient

CLIENTS = pytest.mark.parametrize("client", [RestClient, WorkerClient])


def methods(client: type) -> dict[str, Callable[..., Any]]:
    """Its public methods; while mutants are tested, those of mutmut are beside them."""
    found = inspect.getmembers(client, inspect.isfunction)
    return {
        name: method
        for name, method in found
        if not name.startswith("_") and "__mutmut_" not in name
    }


@pytest.mark.parametrize(
    ("client", "protocols"),
    [(RestClient, [BatchClient, EventClient]), (WorkerClient, [BatchClient])],
)
def test_a_client_and_its_protocols_have_the_same_methods(
    client: type, protocols: list[type]
) -> None:
    promised = [set(methods(protocol)) for protocol in protocols]
    assert set(methods(client)) == set().union(*promised)


@CLIENTS
@pytest.mark.parametrize("name", methods(BatchClient))
def test_a_method_may_be_called_as_the_protocol_says(client: type, name: str) -> None:
    promised = inspect.signature(methods(BatchClient)[name])
    real = inspect.signature(methods(client)[name])
    more = list(real.parameters.values())[len(promised.parameters) :]
    assert all(parameter.default is not parameter.empty for parameter in more)
    kept = [parameter for parameter in real.parameters.values() if parameter not in more]
    assert real.replace(parameters=kept) == promised


def test_only_one_module_of_the_product_knows_which_client_it_is() -> None:
    product = Path(batchui.__file__).parent
    others = [path for path in product.rglob("*.py") if path.parent.name != "cloudflare"]
    naming = [path for path in others if re.search("RestClient|WorkerClient", path.read_text())]
    assert naming == [product / "teams" / "connections.py"]
