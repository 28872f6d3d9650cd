"""Tools that the engine's tests plan and play with."""

from __future__ import annotations

from typing import Any

from whileai.engine.tools import Tool

TEXT = {"type": "string"}


def schema_tool(
    name: str, required: tuple[str, ...] = (), optional: tuple[str, ...] = (), effect: str = "", /, **schemas: Any
) -> Tool:
    """A tool without a body; parameters are texts unless a schema is given for them."""
    properties = {parameter: schemas.get(parameter, TEXT) for parameter in (*required, *optional)}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, f"{name.replace('_', ' ').capitalize()}.", parameters, None, effect)


GET_ORDER = schema_tool("get_order", ("order_id",))
CANCEL_ORDER = schema_tool("cancel_order", ("order_id",), ("reason",))
UPDATE_ADDRESS = schema_tool("update_shipping_address", ("order_id", "new_address"))
SEARCH_PRODUCTS = schema_tool("search_products", ("query",), ("max_price", "limit"), max_price={"type": "number"})
CREATE_REFUND = schema_tool("create_refund", ("order_id", "amount"), ("reason",), amount={"type": "number"})
LIST_ORDERS = schema_tool("list_customer_orders", ("customer_id",))
GET_WEATHER = schema_tool("get_weather", ("city",), ("date",))
SEND_EMAIL = schema_tool("send_email", ("to", "subject", "body"))
CALCULATOR = schema_tool("calculator", ("expression",), (), "read")
BOOK_FLIGHT = schema_tool("book_flight", ("flight_id", "passenger"), ("seat_class",), seat_class={"enum": ["a", "b"]})
SHOP = (GET_ORDER, CANCEL_ORDER)
ALL = (
    *SHOP,
    UPDATE_ADDRESS,
    SEARCH_PRODUCTS,
    CREATE_REFUND,
    LIST_ORDERS,
    GET_WEATHER,
    SEND_EMAIL,
    CALCULATOR,
    BOOK_FLIGHT,
)
PROMPT = "You are a shop agent. Never refund more than 100 dollars. Always confirm the order ID before you cancel."
