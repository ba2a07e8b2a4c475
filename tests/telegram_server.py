# SPDX-License-Identifier: Apache-2.0
"""A server of Telegram's Bot API for one bot: long polling, messages, pictures, files, buttons, and faults when asked for. It
takes nothing that the description of the API does not have (telegram_api.py); what a bot should not do is in `misuses`."""
import collections
import http.server
import itertools
import json
import re
import secrets
import select
import socket
import threading
import time

import telegram_api as api
from harness import DEADLINE
from telegram_api import Misuse, Refused, bad

BODY_BYTES = 64 << 20
WORDS = re.compile(r"test-[0-9a-f]{10}")  # what harness.unique() makes: no log may repeat one of a message


class Call:
    """One request: its method, parameters, files {field: (name, type, bytes)}, and the answer's code once there is one."""

    def __init__(self, method, given, files):
        self.method, self.given, self.files, self.code = method, given, files, None

    @property
    def chat(self):
        return self.given.get("chat_id")

    def __repr__(self):
        return f"{self.method}({self.given}, files {[(name, len(file[2])) for name, file in self.files.items()]}) -> {self.code}"


class Sent:
    """A message of the bot. `text` is as it is shown now, or the caption; `was` has the texts before each edit."""

    def __init__(self, number, chat, **fields):
        self.id, self.chat, self.was = number, chat, []
        self.text, self.entities, self.markup, self.source = "", [], None, ""
        self.kind, self.file, self.album = "text", None, None
        self.__dict__.update(fields)

    def __repr__(self):
        return f"<{self.kind} {self.id} in {self.chat}: {self.text[:200]!r}>"

    @property
    def shown(self):
        return self.text.strip()

    @property
    def buttons(self):
        return [button for row in (self.markup or {}).get("inline_keyboard", []) for button in row]

    def parts(self, kind):
        """The parts of the text that are marked as KIND."""
        encoded = self.text.encode("utf-16-le")
        return [
            encoded[2 * entity["offset"] : 2 * (entity["offset"] + entity["length"])].decode("utf-16-le")
            for entity in self.entities
            if entity["type"] == kind
        ]


class Gate:
    """Where requests wait: `arrived` when the first is there, until `open()`."""

    def __init__(self):
        self.arrived, self.opened = threading.Event(), threading.Event()

    def open(self):
        self.opened.set()

    def wait_for_one(self):
        assert self.arrived.wait(DEADLINE), "no request came"


class Fault:
    def __init__(self, server, method, act, times, chat):
        self.server, self.method, self.act, self.left, self.chat, self.met = server, method, act, times, chat, 0

    def fits(self, call):
        return self.left > 0 and self.method in (None, call.method) and self.chat in (None, call.chat)

    def end(self):
        self.left = 0


class Server:
    def __init__(self):
        self.number = secrets.randbelow(10**9) + 10**9
        self.secret = "AA" + secrets.token_urlsafe(24)
        self.token = f"{self.number}:{self.secret}"
        self.name = f"bot{self.number}_bot"
        self.changed = threading.Condition(threading.RLock())
        self.calls, self.misuses, self.faults = [], [], []
        self.updates, self.next_update = collections.deque(), 10**8 + secrets.randbelow(10**8)
        self.poller, self.polls, self.offset, self.idle_since = None, 0, 0, 0
        self.chats, self.messages, self.ids = {}, {}, itertools.count(1)
        self.stored = {}  # file_id: (path, bytes, size that is said)
        self.presses, self.answered = set(), {}
        self.commands = []
        self.said = set()  # words of users that were made to be found again
        self.over = False
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"server_": self}))
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def end(self):
        with self.changed:
            self.over = True
            for fault in self.faults:
                fault.end()
            self.changed.notify_all()
        self.http.shutdown()
        self.http.server_close()

    # ---- for tests: who is there ----

    def private(self, **person):
        chat = Chat(self, next_number(), "private")
        chat.owner = {"id": chat.id, "is_bot": False, "first_name": "Ada", **person}
        self.chats[chat.id] = chat
        return chat

    def group(self, owner=None):
        chat = Chat(self, -1000000000000 - next_number(), "supergroup")
        chat.owner = owner or self.person()
        self.chats[chat.id] = chat
        return chat

    @staticmethod
    def person(first_name="Grace"):
        return {"id": next_number(), "is_bot": False, "first_name": first_name}

    def push(self, kind, content, number=None):
        """A new update; its number."""
        with self.changed:
            update = {"update_id": self.next_update if number is None else number, kind: content}
            self.next_update = max(self.next_update, update["update_id"] + 1)
            self.updates.append(update)
            self.said.update(WORDS.findall(json.dumps(content)))
            self.changed.notify_all()
            return update["update_id"]

    def push_all(self, updates):
        """Several of (kind, content) at once: one answer brings them all."""
        with self.changed:
            return [self.push(kind, content) for kind, content in updates]

    def keep(self, content, said=None, name=None):
        """A file that a user sent: its id."""
        with self.changed:
            number = next(self.ids)
            self.stored[f"file-{number}"] = (f"documents/{name or f'file_{number}'}", content, len(content) if said is None else said)
            return f"file-{number}"

    # ---- for tests: what came ----

    def wait(self, condition, what, deadline=DEADLINE):
        end = time.monotonic() + deadline
        with self.changed:
            while not (value := condition()):
                assert time.monotonic() < end, f"waited {deadline} s in vain: {what}; came: {self.calls[-12:]}; sent: {self.sent()}"
                self.changed.wait(0.2)
            return value

    def sent(self):
        return [message for chat in self.chats.values() for message in chat.sent][-20:]

    def count(self, method, chat=None):
        with self.changed:
            return len([call for call in self.calls if call.method == method and chat in (None, call.chat)])

    def wait_polling(self):
        """Until the bot waits for what is new, and so has taken all before."""
        self.wait(lambda: self.poller and not self.updates, "the bot to poll")

    def stop_polling(self):
        """The question that waits is answered with nothing, so that the bot asks again."""
        with self.changed:
            self.idle_since = time.monotonic()
            self.changed.notify_all()

    def answer_to(self, press):
        self.wait(lambda: press in self.answered, "an answer to the button")
        return self.answered[press]

    # ---- for tests: faults ----

    def fault(self, method, act, times=1, chat=None):
        """The next TIMES calls of METHOD (None: of any) are met by ACT(handler, call): it raises Refused, or answers itself and
        returns True, or returns so that all goes on."""
        with self.changed:
            self.faults.append(Fault(self, method, act, times, chat))
            return self.faults[-1]

    def refuse(self, method, code, description, times=1, chat=None, **parameters):
        def act(_handler, _call):
            raise Refused(code, description, **parameters)

        return self.fault(method, act, times, chat)

    def hold(self, method, times=1 << 30, chat=None):
        gate = Gate()

        def act(_handler, _call):
            gate.arrived.set()
            while not gate.opened.wait(0.05) and not self.over:
                pass

        self.fault(method, act, times, chat)
        return gate

    # ---- requests ----

    def met(self, handler, call):
        """Whether a fault has answered it."""
        with self.changed:
            fault = next((fault for fault in self.faults if fault.fits(call)), None)
            if not fault:
                return False
            fault.left -= 1
            fault.met += 1
        return bool(fault.act(handler, call))

    def carry_out(self, call, handler):
        if call.method == "getUpdates":
            return self.get_updates(call.given, handler)
        with self.changed:
            return getattr(self, "do_" + re.sub("[A-Z]", lambda found: "_" + found[0].lower(), call.method))(call)

    def get_updates(self, given, handler):
        limit, kinds = given.get("limit", 100), given.get("allowed_updates")
        if not 1 <= limit <= 100:
            raise bad("limit is not between 1 and 100")
        if kinds is not None and (not isinstance(kinds, list) or set(kinds) - set(api.UPDATES)):
            raise Misuse(f"allowed_updates are {kinds}")
        offset = given.get("offset", 0)
        if offset > self.next_update + 10:
            offset = 0  # such a number is of the time before numbers began anew
        me = object()
        with self.changed:
            self.poller, self.offset = me, offset
            self.polls += 1
            while self.updates and self.updates[0]["update_id"] < offset:
                self.updates.popleft()
            end = time.monotonic() + given.get("timeout", 0)
            self.changed.notify_all()
            begun = time.monotonic()
            while self.poller is me and not self.updates and self.idle_since < begun and time.monotonic() < end and not self.over:
                if handler.is_gone():
                    self.poller = None
                    raise ConnectionError
                self.changed.wait(0.02)
            if self.poller is not me:
                raise Refused(
                    409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
                )
            self.poller = None
            fitting = [update for update in self.updates if kinds is None or set(update) & {*kinds, "update_id"} != {"update_id"}]
            if len(fitting) < len(self.updates):
                self.updates = collections.deque(fitting)  # what was not asked for is never kept
            return fitting[:limit]

    def chat_of(self, given):
        chat = self.chats.get(given["chat_id"])
        if not chat:
            raise bad("chat not found")
        return chat

    def new_message(self, chat, **fields):
        message = Sent(next(self.ids), chat.id, **fields)
        self.messages[message.id] = message
        chat.sent.append(message)
        self.changed.notify_all()
        return message

    def shape(self, message):
        """As the API gives it back."""
        chat = self.chats[message.chat]
        shaped = {
            "message_id": message.id,
            "from": self.do_get_me(None),
            "chat": chat.shape(),
            "date": int(time.time()),
        }
        if message.kind == "text":
            shaped["text"] = message.text
        return shaped

    def do_get_me(self, _call):
        return {"id": self.number, "is_bot": True, "first_name": "Adder", "username": self.name}

    def do_delete_webhook(self, _call):
        return True

    def text_fields(self, given):
        api.check_preview(given.get("link_preview_options"))
        api.check_markup(given.get("reply_markup"))
        text, entities = api.read_text(given)
        return {"text": text, "entities": entities, "markup": given.get("reply_markup"), "source": given["text"]}

    def do_send_message(self, call):
        chat = self.chat_of(call.given)
        return self.shape(self.new_message(chat, **self.text_fields(call.given)))

    def edited(self, given):
        if "inline_message_id" in given or "chat_id" not in given or "message_id" not in given:
            raise Misuse("what is edited is not named by chat and number")
        message = self.messages.get(given["message_id"])
        if not message or message.chat != self.chat_of(given).id:
            raise bad("message to edit not found")
        return message

    def do_edit_message_text(self, call):
        message, fields = self.edited(call.given), self.text_fields(call.given)
        if message.kind != "text":
            raise bad("there is no text in the message to edit")
        if all(getattr(message, name) == fields[name] for name in ("text", "entities", "markup")):
            raise bad(
                "message is not modified: specified new message content and reply markup are exactly the same as a current"
                " content and reply markup of the message"
            )
        message.was.append(message.text)
        message.__dict__.update(fields)
        self.changed.notify_all()
        return self.shape(message)

    def do_edit_message_reply_markup(self, call):
        message = self.edited(call.given)
        api.check_markup(call.given.get("reply_markup"))
        if message.markup == call.given.get("reply_markup"):
            raise bad("message is not modified")
        message.markup = call.given.get("reply_markup")
        self.changed.notify_all()
        return self.shape(message)

    def do_delete_message(self, call):
        message = self.edited(call.given)
        self.chats[message.chat].sent.remove(message)
        del self.messages[message.id]
        self.changed.notify_all()
        return True

    def file_of(self, call, value, used):
        """The file that VALUE names, or that is the field of that name."""
        name = value.removeprefix("attach://")
        if not value.startswith("attach://") or name not in call.files:
            raise bad("wrong file identifier/HTTP URL specified")
        used.add(name)
        return call.files[name]

    def check_used(self, call, used):
        if set(call.files) != used:
            raise Misuse(f"files that nothing names: {sorted(set(call.files) - used)}")

    def send_file(self, call, field, check):
        chat, used = self.chat_of(call.given), set()
        api.check_markup(call.given.get("reply_markup"))
        given = call.given.get(field)
        file = self.file_of(call, given if given is not None else f"attach://{field}", used)
        self.check_used(call, used)
        check(file[2])
        text, entities = api.read_text(call.given, "caption", api.CAPTION_UNITS)
        return self.shape(
            self.new_message(chat, kind=field, file=file, text=text, entities=entities, markup=call.given.get("reply_markup"))
        )

    def do_send_photo(self, call):
        return self.send_file(call, "photo", api.check_photo)

    def do_send_document(self, call):
        return self.send_file(call, "document", api.check_document)

    def do_send_media_group(self, call):
        chat, used, album = self.chat_of(call.given), set(), []
        media = call.given["media"]
        if len(media) not in api.ALBUM:
            raise bad("there must be 2 to 10 messages in an album")
        for item in media:
            if set(item) - {"type", "media", "caption", "parse_mode"}:
                raise Misuse(f"a part of an album of {sorted(item)}")
            if item["type"] not in ("photo", "document") or item["type"] != media[0]["type"]:
                raise bad("documents and photos cannot be in one album")
            file = self.file_of(call, item["media"], used)
            (api.check_photo if item["type"] == "photo" else api.check_document)(file[2])
            album.append((item["type"], file, api.read_text(item, "caption", api.CAPTION_UNITS)))
        self.check_used(call, used)
        number = next(self.ids)
        return [
            self.shape(self.new_message(chat, kind=kind, file=file, text=text, entities=entities, album=number))
            for kind, file, (text, entities) in album
        ]

    def do_send_chat_action(self, call):
        self.chat_of(call.given)
        if call.given["action"] not in api.ACTIONS:
            raise bad("wrong parameter action in request")
        return True

    def do_get_file(self, call):
        if call.given["file_id"] not in self.stored:
            raise bad("invalid file_id")
        path, _, size = self.stored[call.given["file_id"]]
        if size > api.FETCH_BYTES:
            raise bad("file is too big")
        return {"file_id": call.given["file_id"], "file_unique_id": call.given["file_id"], "file_size": size, "file_path": path}

    def do_answer_callback_query(self, call):
        if len(call.given.get("text", "")) > 200:
            raise bad("MESSAGE_TOO_LONG")
        if call.given["callback_query_id"] not in self.presses:
            raise bad("query is too old and response timeout expired or query ID is invalid")
        self.presses.remove(call.given["callback_query_id"])
        self.answered[call.given["callback_query_id"]] = call.given.get("text", "")
        self.changed.notify_all()
        return True

    def do_set_my_commands(self, call):
        api.check_commands(call.given["commands"])
        self.commands = call.given["commands"]
        return True


numbers = itertools.count(secrets.randbelow(10**9) + 5 * 10**9)


def next_number():
    """Of a user or chat: over 32 bits, as new ones are."""
    return next(numbers)


def pre(text, code, before=""):
    """The entity of a block CODE in TEXT."""
    return {"type": "pre", "offset": api.units(before), "length": api.units(code)}


class Chat:
    """A chat as its people see it. `sent` has the bot's messages in order."""

    def __init__(self, server, number, kind):
        self.server, self.id, self.kind, self.sent = server, number, kind, []

    def shape(self):
        more = {"first_name": "Ada"} if self.kind == "private" else {"title": "Group"}
        return {"id": self.id, "type": self.kind, **more}

    def message(self, text=None, by=None, **fields):
        sender = self.owner if by is None else by
        said = {} if text is None else {"text": text}
        return {
            "message_id": next(self.server.ids),
            "from": sender,
            "chat": self.shape(),
            "date": int(time.time()),
            **said,
            **fields,
        }

    def block(self, code, by=None, **fields):
        return self.message(code, by, entities=[pre(code, code)], **fields)

    def say(self, text, by=None, **fields):
        return self.server.push("message", self.message(text, by, **fields))

    def run(self, code, by=None, **fields):
        """A code block."""
        return self.server.push("message", self.block(code, by, **fields))

    def document(self, name, content, said=None, **fields):
        file_id = self.server.keep(content, said)
        document = {"file_id": file_id, "file_unique_id": file_id, "file_name": name, "file_size": len(content) if said is None else said}
        return self.server.push("message", self.message(document=document, **fields))

    def press(self, message, label, by=None):
        """Presses the button LABEL; the query's id."""
        data = next(button["callback_data"] for button in message.buttons if button["text"].startswith(label))
        return self.press_data(message.id, data, by)

    def press_data(self, number, data, by=None, **fields):
        with self.server.changed:
            query = f"press-{next(self.server.ids)}"
            self.server.presses.add(query)
            message = {"message_id": number, "chat": self.shape(), "date": 1, "from": self.server.do_get_me(None), "text": "x"}
            sender = self.owner if by is None else by
            self.server.push(
                "callback_query",
                {"id": query, "from": sender, "message": message, "chat_instance": "1", "data": data, **fields},
            )
            return query

    # ---- what comes back ----

    @property
    def texts(self):
        with self.server.changed:
            return [message.shown for message in self.sent]

    def wait(self, condition, what="a message"):
        """Until CONDITION(messages of the bot) is true; what it gave."""
        return self.server.wait(lambda: condition(list(self.sent)), f"{what} in {self.id}")

    def next(self, count=1, after=None):
        """The messages from number AFTER on (those that were seen with this before), when there are COUNT."""
        begin = self.seen if after is None else after
        found = self.wait(lambda sent: len(sent) >= begin + count and sent[begin:], f"{begin + count} messages")
        self.seen = begin + count
        return found[:count]

    seen = 0

    def ask(self, text, **fields):
        """Says TEXT: the next message."""
        self.say(text, **fields)
        return self.next()[0]

    def ask_run(self, code, **fields):
        self.run(code, **fields)
        return self.next()[0]


# ---- HTTP ----


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_ = None
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def is_gone(self):
        ready, _, _ = select.select([self.connection], [], [], 0)
        try:
            return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            return True

    def send_bytes(self, body, status=200, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_answer(self, result, call=None):
        if call:
            call.code = 200
        self.send_bytes(json.dumps({"ok": True, "result": result}).encode())

    def send_refusal(self, refused, call=None):
        if call:
            call.code = refused.code
        answer = {"ok": False, "error_code": refused.code, "description": refused.description}
        if refused.parameters:
            answer["parameters"] = refused.parameters
        self.send_bytes(json.dumps(answer).encode(), refused.code)

    def misuse(self, text):
        with self.server_.changed:
            self.server_.misuses.append(text)
        return bad(text)

    def handle_all(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "Transfer-Encoding" in self.headers or len(body) > BODY_BYTES:
            self.misuse("a body without a length, or far too long")
        beginning, _, rest = self.path[1:].partition("/")
        try:
            if beginning == "file":
                self.send_file(rest)
            elif not beginning.startswith("bot") or beginning[3:] != self.server_.token:
                self.misuse(f"a path of {self.path[:30]}")
                self.send_refusal(Refused(401, "Unauthorized"))
            else:
                self.answer(rest, body)
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    do_GET = do_POST = handle_all  # noqa: N815

    def answer(self, method, body):
        call = None
        try:
            if method not in api.METHODS:
                raise self.misuse(f"there is no method {method}, or the double does not know it")
            given, files, is_form = self.read_body(body)
            call = Call(method, given, files)
            call.given = api.check_parameters(method, given, files, is_form)
            with self.server_.changed:
                self.server_.calls.append(call)
                self.server_.changed.notify_all()
            if self.server_.met(self, call):
                return
            self.send_answer(self.server_.carry_out(call, self), call)
        except Refused as refused:
            self.send_refusal(refused, call)
        except Misuse as misuse:
            self.send_refusal(self.misuse(str(misuse)), call)

    def read_body(self, body):
        """Parameters, files, and whether they were a form."""
        kind = self.headers.get("Content-Type", "")
        if not body:
            return {}, {}, True
        if kind == "application/json":
            return read_json(body), {}, False
        if kind.startswith("multipart/form-data; boundary="):
            return (*read_form(body, kind.partition("=")[2].strip('"')), True)
        raise Misuse(f"a body of type {kind}")

    def send_file(self, rest):
        token, _, path = rest.partition("/")
        if token != f"bot{self.server_.token}":
            return self.send_refusal(Refused(401, "Unauthorized"))
        with self.server_.changed:
            found = next((content for at, content, _ in self.server_.stored.values() if at == path), None)
        call = Call("file", {"path": path}, {})
        with self.server_.changed:
            self.server_.calls.append(call)
        if self.server_.met(self, call):
            return None
        if found is None:
            return self.send_refusal(Refused(404, "Not Found"))
        return self.send_bytes(found, kind="application/octet-stream")


def read_json(body):
    def once(pairs):
        names = [name for name, _ in pairs]
        if len(names) != len(set(names)):
            raise Misuse(f"a name twice in one object: {names}")
        return dict(pairs)

    try:
        given = json.loads(body.decode(), object_pairs_hook=once)
    except ValueError as error:
        raise Misuse(f"a body that is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise Misuse("a body that is no object")
    return given


DISPOSITION = re.compile(r'form-data; name="([^"]+)"(?:; filename="([^"]*)")?')


def read_form(body, boundary):
    """The texts and the files of a form."""
    mark = f"--{boundary}".encode()
    parts = (b"\r\n" + body).split(b"\r\n" + mark)
    if parts[0] or parts[-1].rstrip(b"\r\n") != b"--":
        raise Misuse("a form that does not begin or end as it should")
    texts, files = {}, {}
    for part in parts[1:-1]:
        head, blank, content = part.partition(b"\r\n\r\n")
        lines = dict(line.split(": ", 1) for line in head.decode().strip().split("\r\n"))
        found = DISPOSITION.fullmatch(lines.pop("Content-Disposition", ""))
        kind = lines.pop("Content-Type", None)
        if not blank or not found or lines or found[1] in texts or found[1] in files:
            raise Misuse(f"a part of a form that begins {head[:200]!r}")
        if found[2] is None:
            texts[found[1]] = content.decode()
        else:
            files[found[1]] = (found[2], kind, content)
    return texts, files


# ---- faults ----


def cut(handler, _call):
    """Hangs up before anything came of it."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionError


def cut_after(text):
    """Hangs up in the middle of an answer."""

    def act(handler, _call):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text) + 100))
        handler.end_headers()
        handler.wfile.write(text.encode())
        return cut(handler, _call)

    return act


def bytes_of(body, status=200, kind="application/json"):
    def act(handler, _call):
        handler.send_bytes(body, status, kind)
        return True

    return act
