# SPDX-License-Identifier: Apache-2.0
"""What Telegram's Bot API says of the methods that a chat uses: their parameters, and its limits.
e2e/test_telegram_api.py holds METHODS against the description that is published."""
import html
import json
import re
import struct

TEXT_UNITS = 4096
CAPTION_UNITS = 1024
ENTITIES = 100
PHOTO_BYTES = 10 << 20
PHOTO_SIDES = 10000
PHOTO_RATIO = 20
DOCUMENT_BYTES = 50 << 20
FETCH_BYTES = 20 << 20
ALBUM = range(2, 11)
BUTTON_BYTES = 64

# Kinds of parameters. One of kind OTHER is known, and no front of ours has a use for it.
INTEGER, TEXT, TRUTH, CHAT, FILE, JSON, OTHER = "integer", "text", "truth", "chat", "file", "json", "other"


def parameters(required="", optional="", **kinds):
    """The names in both, with True for those that are required; what is not said otherwise is an OTHER."""
    names = [(name, True) for name in required.split()] + [(name, False) for name in optional.split()]
    return {name: (kinds.get(name, USUAL.get(name, OTHER)), needed) for name, needed in names}


USUAL = {
    "chat_id": CHAT,
    "message_id": INTEGER,
    "text": TEXT,
    "caption": TEXT,
    "parse_mode": TEXT,
    "entities": JSON,
    "link_preview_options": JSON,
    "reply_markup": JSON,
    "reply_parameters": JSON,
    "disable_notification": TRUTH,
    "protect_content": TRUTH,
}
SENDING = "business_connection_id message_thread_id direct_messages_topic_id disable_notification protect_content allow_paid_broadcast message_effect_id reply_parameters"
ONE = " ephemeral_message_parameters suggested_post_parameters reply_markup"
EDITED = "business_connection_id chat_id message_id inline_message_id reply_markup"
METHODS = {
    "getMe": parameters(),
    "getUpdates": parameters(
        "", "offset limit timeout allowed_updates", offset=INTEGER, limit=INTEGER, timeout=INTEGER, allowed_updates=JSON
    ),
    "deleteWebhook": parameters("", "drop_pending_updates", drop_pending_updates=TRUTH),
    "sendMessage": parameters("chat_id text", f"{SENDING}{ONE} parse_mode entities link_preview_options"),
    "editMessageText": parameters("", f"{EDITED} text parse_mode entities link_preview_options rich_message"),
    "editMessageReplyMarkup": parameters("", EDITED),
    "deleteMessage": parameters("chat_id message_id"),
    "sendPhoto": parameters(
        "chat_id photo",
        f"{SENDING}{ONE} caption parse_mode caption_entities show_caption_above_media has_spoiler",
        photo=FILE,
    ),
    "sendMediaGroup": parameters("chat_id media", SENDING, media=JSON),
    "sendDocument": parameters(
        "chat_id document",
        f"{SENDING}{ONE} caption parse_mode caption_entities disable_content_type_detection thumbnail",
        document=FILE,
        disable_content_type_detection=TRUTH,
    ),
    "sendChatAction": parameters(
        "chat_id action", "business_connection_id message_thread_id", action=TEXT
    ),
    "getFile": parameters("file_id", file_id=TEXT),
    "answerCallbackQuery": parameters(
        "callback_query_id", "text show_alert url cache_time", callback_query_id=TEXT, show_alert=TRUTH, url=TEXT, cache_time=INTEGER
    ),
    "setMyCommands": parameters("commands", "scope language_code", commands=JSON, scope=JSON, language_code=TEXT),
}
ACTIONS = (
    "typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker find_location"
    " record_video_note upload_video_note"
).split()
UPDATES = ("message", "edited_message", "channel_post", "edited_channel_post", "inline_query", "callback_query")


class Refused(Exception):
    """What the server says no to."""

    def __init__(self, code, description, **parameters_):
        super().__init__(description)
        self.code, self.description, self.parameters = code, description, parameters_


def bad(description):
    return Refused(400, f"Bad Request: {description}")


class Misuse(Exception):
    """What Telegram might let pass, and no front of ours may do."""


# ---- parameters ----


def is_of(kind, value):
    whole = isinstance(value, int) and not isinstance(value, bool)
    return {
        INTEGER: whole,
        TEXT: isinstance(value, str),
        TRUTH: isinstance(value, bool),
        CHAT: whole or (isinstance(value, str) and value.startswith("@")),
        FILE: isinstance(value, str),
        JSON: isinstance(value, (dict, list)),
        OTHER: False,
    }[kind]


def check_parameters(method, given, files, is_form):
    """GIVEN, as values of their kinds. A form has texts alone."""
    table, checked = METHODS[method], {}
    for name in sorted(set(given) | set(files)):
        if name not in table and not (method == "sendMediaGroup" and name in files):
            raise Misuse(f"{method} has no parameter {name}")
    for name, value in given.items():
        kind = table[name][0]
        if is_form and kind not in (TEXT, FILE):
            try:
                value = json.loads(value)
            except ValueError:
                raise Misuse(f"{method}: {name} is {value!r}, no JSON") from None
        if not is_of(kind, value):
            raise Misuse(f"{method}: {name} is {value!r}, not of kind {kind}")
        checked[name] = value
    for name, (_, required) in table.items():
        if required and name not in checked and name not in files:
            raise bad(f"parameter {name} is required")
    return checked


# ---- texts ----


BLANKS = " \n\t\xa0\u200b\u200c\u200d\u2060\u2066\u2067\u2068\u2069\u3000\u3164\ufeff"


def units(text):
    """Telegram counts in units of UTF-16."""
    return len(text.encode("utf-16-le")) // 2


TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
    "blockquote": "blockquote",
}
TOKENS = re.compile(r"<(/?)([^<>\s]*)([^<>]*)>|<|&(?:lt|gt|amp|quot|#[0-9]+|#x[0-9a-fA-F]+);|[^<&]+|&", re.S)
UNCLOSED = "can't parse entities: Can't find end tag corresponding to start tag \"{}\""


def read_html(source):
    """The text of SOURCE and its entities."""
    text, length, entities, open_tags = [], 0, [], []
    for token in TOKENS.finditer(source):
        whole, at = token[0], len(source[: token.start()].encode())
        if whole == "<":
            raise bad(f"can't parse entities: Unclosed start tag at byte offset {at}")
        if whole[0] == "<" and not token[1]:
            name = token[2].lower()
            if name not in TAGS:
                raise bad(f'can\'t parse entities: Unsupported start tag "{name}" at byte offset {at}')
            if open_tags and open_tags[-1][0] in ("code", "pre") and (open_tags[-1][0], name) != ("pre", "code"):
                raise Misuse(f"<{name}> within <{open_tags[-1][0]}>, which is not shown")
            open_tags.append((name, length))
        elif whole[0] == "<":
            if not open_tags:
                raise bad(f"can't parse entities: Unexpected end tag at byte offset {at}")
            name, begin = open_tags.pop()
            if token[2].lower() not in ("", name):
                raise bad(f'can\'t parse entities: Unmatched end tag at byte offset {at}, expected "</{name}>"')
            if length > begin:
                entities.append({"type": TAGS[name], "offset": begin, "length": length - begin})
        else:
            piece = html.unescape(whole) if whole[0] == "&" and len(whole) > 1 else whole
            text.append(piece)
            length += units(piece)
    if open_tags:
        raise bad(UNCLOSED.format(open_tags[-1][0]))
    return "".join(text), sorted(entities, key=lambda entity: entity["offset"])


def check_entities(text, entities):
    """Those that are given beside a text."""
    encoded = text.encode("utf-16-le")
    for entity in entities:
        begin, end = entity["offset"], entity["offset"] + entity["length"]
        if not 0 <= begin < end <= units(text):
            raise bad("can't parse entities: an entity is beyond the text")
        for edge in (begin, end):
            if 0xDC00 <= int.from_bytes(encoded[2 * edge : 2 * edge + 2] or b"\0\0", "little") < 0xE000:
                raise bad("can't parse entities: an entity begins or ends within a character")
    return text, entities


def cleaned(text):
    """As Telegram keeps it: no control characters, and no marks that turn the line's direction for good. What goes counts as a
    blank here, so that entities stay where they are."""
    return re.sub("[\0-\t\v-\x1f\u2028-\u202e]", " ", text)


def trimmed(text, entities):
    """Without blanks at its end and blank lines at its beginning, as a message is shown."""
    gone = len(text) - len(re.sub(r"\A(?:[ ]*\n)+", "", text))
    kept, most, shifted = text[gone:].rstrip(), units(text[gone:].rstrip()), []
    for entity in entities:
        begin = max(entity["offset"] - gone, 0)
        end = min(entity["offset"] + entity["length"] - gone, most)
        if begin < end:
            shifted.append({**entity, "offset": begin, "length": end - begin})
    return kept, shifted


def read_text(given, name="text", most=TEXT_UNITS):
    """The text that GIVEN would show, and its entities."""
    source = given.get(name, "")
    mode = given.get("parse_mode")
    if mode and "entities" in given:
        raise Misuse("both parse_mode and entities")
    if mode not in (None, "HTML"):
        raise Misuse(f"parse_mode {mode} is not known to the double")
    text, entities = read_html(source) if mode else check_entities(source, given.get("entities", []))
    if "\0" in text:
        raise bad("strings must be encoded in UTF-8")
    if units(text) > most:
        raise bad("message is too long" if name == "text" else "message caption is too long")
    if len(entities) > ENTITIES:
        raise Misuse(f"{len(entities)} entities, of which {ENTITIES} are shown")
    if name == "text" and not cleaned(text).strip(BLANKS):
        raise bad("message text is empty")
    return trimmed(cleaned(text), entities)


# ---- what comes along ----

BUTTON_ACTIONS = {"url", "callback_data", "web_app", "login_url", "switch_inline_query", "copy_text", "pay"}


def check_markup(markup):
    if markup is None:
        return
    if set(markup) != {"inline_keyboard"}:
        raise Misuse(f"a markup of {sorted(markup)}")
    rows = markup["inline_keyboard"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad("object expected as reply markup")
    for button in (button for row in rows for button in row):
        actions = set(button) & BUTTON_ACTIONS
        if set(button) - BUTTON_ACTIONS != {"text"} or not button["text"]:
            raise Misuse(f"a button of {sorted(button)}")
        if len(actions) != 1:
            raise bad("text buttons are allowed in the inline keyboard: exactly one action is needed")
        if "callback_data" in button and not 1 <= len(button["callback_data"].encode()) <= BUTTON_BYTES:
            raise bad("BUTTON_DATA_INVALID")


def check_preview(options):
    known = {"is_disabled", "url", "prefer_small_media", "prefer_large_media", "show_above_text"}
    if options is not None and set(options) - known:
        raise Misuse(f"link_preview_options have {sorted(set(options) - known)}")


def check_commands(commands):
    if not 1 <= len(commands) <= 100:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if set(command) != {"command", "description"}:
            raise Misuse(f"a command of {sorted(command)}")
        if not re.fullmatch(r"[a-z0-9_]{1,32}", command["command"]):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= len(command["description"]) <= 256:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")


# ---- pictures ----


def sides(data):
    """Width and height of a PNG or JPEG, or None."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR":
        return struct.unpack(">II", data[16:24])
    at = 2
    while data[:2] == b"\xff\xd8" and at + 9 <= len(data) and data[at] == 0xFF:
        if data[at + 1] in (0xC0, 0xC1, 0xC2):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return None


def check_photo(data):
    if len(data) > PHOTO_BYTES:
        raise Refused(413, "Request Entity Too Large")
    found = sides(data)
    if not found:
        raise bad("IMAGE_PROCESS_FAILED")
    width, height = found
    if not width or not height or width + height > PHOTO_SIDES or max(found) > PHOTO_RATIO * min(found):
        raise bad("PHOTO_INVALID_DIMENSIONS")


def check_document(data):
    if not data:
        raise bad("file must be non-empty")
    if len(data) > DOCUMENT_BYTES:
        raise Refused(413, "Request Entity Too Large")
