"""What a JPEG will take of the memory: its markers, as ITU-T T.81 has them."""

# Frames, and those whose picture comes in several passes (progressive).
_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_PROGRESSIVE = {0xC2, 0xC6, 0xCA, 0xCE}
_SCAN = 0xDA
# What stands before the number of colours: marker, length, precision, height, width.
_COLOURS_OF_FRAME = 9
_COLOURS_OF_SCAN = 4


def is_held_whole(content: bytes) -> bool:
    """Whether a decoder has to hold all of it at full size, however small it is wanted.

    So it is where no pass has all colours of all points: then 6 bytes a point are kept. False for
    what is no JPEG, or a damaged one.
    """
    colours, at = 0, 2
    while at + _COLOURS_OF_FRAME < len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if marker == 0xFF:  # a byte to fill
            at += 1
            continue
        if marker in _PROGRESSIVE:
            return True
        if marker in _FRAMES:
            colours = content[at + _COLOURS_OF_FRAME]
        if marker == _SCAN:
            return content[at + _COLOURS_OF_SCAN] < colours
        at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return False
