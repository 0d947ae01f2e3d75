"""The messages of echo.proto, encoded by hand: only what the peers need of protobuf."""

PATH = "/sluice.test.v1.Echo/"

# field number -> (name, kind)
REQUEST = {
    1: ("text", "string"), 2: ("payload", "bytes"), 3: ("response_size", "int"),
    4: ("response_count", "int"), 5: ("delay_ms", "int"), 6: ("code", "int"),
    7: ("message", "string"), 8: ("header_first", "int"), 9: ("compress", "int"),
}
RESPONSE = {
    1: ("text", "string"), 2: ("payload", "bytes"), 3: ("index", "int"),
    4: ("received", "int"), 5: ("received_bytes", "int"), 6: ("remaining_ms", "int"),
}
DEFAULTS = {"string": "", "bytes": b"", "int": 0}


def _varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _encode(fields, message):
    unknown = set(message) - {name for name, _ in fields.values()}
    if unknown:
        raise KeyError(f"no such fields: {unknown}")
    out = bytearray()
    for number, (name, kind) in fields.items():
        value = message.get(name)
        if not value:
            continue
        if kind == "int":
            out += _varint(number << 3) + _varint(int(value))
        else:
            data = value.encode() if kind == "string" else value
            out += _varint(number << 3 | 2) + _varint(len(data)) + data
    return bytes(out)


def _decode(fields, data):
    message = {name: DEFAULTS[kind] for name, kind in fields.values()}
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire_type = key >> 3, key & 7
        name, kind = fields[number]
        if wire_type == 0:
            value, at = _read_varint(data, at)
            message[name] = value - (1 << 64) if value >= 1 << 63 else value
        elif wire_type == 2:
            size, at = _read_varint(data, at)
            if at + size > len(data):
                raise ValueError("message ends inside a field")
            piece = data[at:at + size]
            at += size
            message[name] = piece.decode() if kind == "string" else piece
        else:
            raise ValueError(f"wire type {wire_type}")
    return message


def encode_request(message):
    return _encode(REQUEST, message)


def decode_request(data):
    return _decode(REQUEST, data)


def encode_response(message):
    return _encode(RESPONSE, message)


def decode_response(data):
    return _decode(RESPONSE, data)
