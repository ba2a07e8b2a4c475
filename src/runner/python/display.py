# SPDX-License-Identifier: Apache-2.0
"""The display protocol, the same in runs and in cells: objects become bundles, {MIME type: representation}.

IPython's names are ours: display(), HTML and its like, display ids, _repr_*_ methods and formatters that code registers. A
representation that fails is left out with a warning. What is too long for a reply becomes a file in the output folder."""

import base64
import itertools
import json
import os
import sys

from adder_runner import places, tables, tracebacks

TEXT_MAX = 1 << 20  # bytes of one representation in a display
PICTURE_MAX = 4 << 20
PREVIEW = 800  # pixels on a side
WARNINGS_MAX = 50

# Methods of objects, in the order in which representations are listed.
METHODS = (
    ("_repr_html_", "text/html"),
    ("_repr_markdown_", "text/markdown"),
    ("_repr_latex_", "text/latex"),
    ("_repr_svg_", "image/svg+xml"),
    ("_repr_png_", "image/png"),
    ("_repr_jpeg_", "image/jpeg"),
    ("_repr_json_", "application/json"),
    ("_repr_javascript_", "application/javascript"),
    ("_repr_pdf_", "application/pdf"),
)
PICTURES = frozenset(("image/png", "image/jpeg", "image/svg+xml", "application/pdf", "application/vnd.adder.chart+json"))
SUFFIXES = {
    "text/html": "html",
    "text/markdown": "md",
    "text/latex": "tex",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpg",
    "application/pdf": "pdf",
    "application/javascript": "js",
    "text/plain": "txt",
}
CANARY = "_ipython_canary_method_should_not_exist_"
SIMPLE = frozenset((int, float, bool, complex, str, bytes, type(None), list, tuple, dict, set, frozenset, range))

vector = False  # figures as SVG as well: in this run or cell
vector_always = False  # and in all of a session
charts_wanted = True
pictures = None  # {bytes, side, all}: the most of a picture, and of all, where the caller has bounds of their own
spent = 0  # of "all", in this run or cell
exports = None  # where tables that are shown are written to files as well
warnings = []
numbers = itertools.count(1)
to_text = json.JSONEncoder(allow_nan=False).encode
shell = None  # the session's, where it has IPython's


def send(message):
    """The zygote puts the extension's in its place."""


def start(request):
    """What REQUEST says of displays."""
    global vector, charts_wanted, pictures, spent, exports
    # Written only when it changes: what is not written to stays shared with the zygote.
    if request.get("svg", vector_always) != vector or request.get("charts", True) != charts_wanted:
        vector, charts_wanted = request.get("svg", vector_always), request.get("charts", True)
    if request.get("pictures") != pictures:
        pictures = request.get("pictures")
    if spent:
        spent = 0
    if "tables" in request:
        from adder_runner.exports import Exports

        exports = Exports(request["tables"], () if exports is None else exports.known.union(exports.names))
    elif exports is not None:
        exports = None


def keep(value):
    """VALUE is shown: where tables are to be files as well, it becomes one."""
    if exports is not None:
        attempt(type(value).__name__, lambda: exports.keep(value))


def warn(text):
    text = tracebacks.clean(text)[:500]
    if len(warnings) < WARNINGS_MAX and text not in warnings:
        warnings.append(text)


def take_warnings():
    taken = warnings[:]
    warnings.clear()
    return taken


# ---- display() ----


class DisplayHandle:
    """Shows another object where the first was."""

    def __init__(self, display_id):
        self.display_id = display_id

    def display(self, value, **options):
        show(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        show(value, display_id=self.display_id, update=True, **options)

    def __repr__(self):
        return f"<DisplayHandle display_id={self.display_id}>"


def show(*values, include=None, exclude=None, metadata=None, transient=None, display_id=None, raw=False, clear=False, update=False, **options):
    """display() as IPython has it: shows VALUES. With a DISPLAY_ID (True: a new one) it returns a handle to show something else
    there."""
    if display_id is True:
        display_id = os.urandom(8).hex()
    display_id = display_id if display_id is not None else (transient or {}).get("display_id")
    if update and display_id is None:
        raise TypeError("display_id required for update_display")
    for value in values:
        if raw:
            publish(dict(value), metadata, display_id, update)
            continue
        keep(value)
        data, details = bundle(value, include, exclude)
        if data:
            publish(data, {**details, **(metadata or {})}, display_id, update)
    return handle_class()(display_id) if display_id is not None else None


show.__name__ = show.__qualname__ = "display"


def handle_class():
    functions = sys.modules.get("IPython.core.display_functions")
    return getattr(functions, "DisplayHandle", DisplayHandle)


def update_display(value, *, display_id, **options):
    show(value, display_id=display_id, update=True, **options)


def publish_data(data, metadata=None, *ignored, transient=None, update=False, **more):
    """publish_display_data() as IPython has it."""
    publish(data, metadata, (transient or {}).get("display_id"), update)


def clear_output(wait=False):
    """What was sent is sent."""


def publish(data, metadata=None, display_id=None, update=False):
    """Sends the bundle DATA, after all output that was written before."""
    if shell is not None and type(shell.display_pub) is not shell.display_pub_class:  # within %%capture
        transient = {"display_id": display_id} if display_id is not None else {}
        shell.display_pub.publish(data, metadata, transient=transient, update=update)
        return
    data = carried(data)
    details = {}
    if metadata:
        details["metadata"] = {mime: value for mime, value in metadata.items() if mime in data and isinstance(value, dict)}
    if display_id is not None:
        details["display_id"] = tracebacks.clean(str(display_id))[:100]
        details["update"] = bool(update)
    try:
        text = to_text({**data, "adder": details} if details.get("metadata") or display_id is not None else data)
    except (TypeError, ValueError) as error:
        warn(f"the metadata of a display is left out: {error}")
        text = to_text(data)
    flush()
    send(text.encode())


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # whatever the code put there
            pass


# ---- what can be carried ----


def carried(data):
    """DATA as it can be sent: text without what JSON lacks, bytes in base64, what is too long in files."""
    kept = {}
    for mime, value in data.items():
        try:
            mime = tracebacks.clean(str(mime))[:100]
            if isinstance(value, (bytes, bytearray)):
                value = base64.b64encode(value).decode() if not mime.startswith("text/") else value.decode("utf-8", "replace")
            if isinstance(value, str):
                value = tracebacks.clean(value)
                most = picture_most() if mime in PICTURES else TEXT_MAX
                if len(value) > most or len(value.encode()) > most or (pictures and is_wide(mime, value)):
                    value = filed(mime, value, kept, most)
            elif mime.endswith("json"):
                value = tracebacks.clean_values(value)
                if len(to_text(value)) > TEXT_MAX:
                    value = filed(mime, to_text(value), kept, TEXT_MAX)
            else:
                value = tracebacks.clean(str(value))
            if value is not None:
                kept[mime] = value
                spend(mime, value)
        except Exception as error:
            warn(f"{mime} is left out of a display: {type(error).__name__}: {tracebacks.message_of(error)}")
    notes = kept.pop("notes", None)
    if notes:
        kept["text/plain"] = "\n".join([kept.get("text/plain", ""), *notes]).lstrip("\n")
    return kept


def picture_most():
    """Bytes of a picture in base64. Of what all may have together the first may take all, and later ones half of what is left, so
    that many become smaller before some are left out."""
    most = min((pictures and pictures["bytes"]) or PICTURE_MAX, PICTURE_MAX)
    if pictures and pictures["all"]:
        left = max(pictures["all"] - spent, 0)
        most = min(most, left // 2 if spent else left)
    return most


def spend(mime, text):
    global spent
    if pictures and pictures["all"] and mime in PICTURES:
        spent += len(text)


def is_wide(mime, text):
    """Whether TEXT is a PNG of more pixels on a side than the caller wants: its first bytes say so."""
    head = base64.b64decode(text[:32]) if mime == "image/png" and pictures["side"] else b""
    return len(head) == 24 and max(int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")) > pictures["side"]


def filed(mime, text, kept, most):
    """Writes what is too long into a file. Returns what stands in its place: a preview, or None; the note goes to KEPT."""
    suffix = SUFFIXES.get(mime, "json" if mime.endswith("json") else "bin")
    from adder_runner import _adder

    path = os.path.join(places.temporary, "output", f"display-{next(numbers)}.{suffix}")
    binary = mime.startswith(("image/", "application/pdf")) and mime != "image/svg+xml"
    content = base64.b64decode(text) if binary else text.encode()
    with open(_adder.make_file(path), "wb") as file:
        file.write(content)
    kept.setdefault("notes", []).append(f"[{mime} of {len(content)} bytes is in the file {path}]")
    if mime.startswith("text/") and mime != "text/html":
        return tracebacks.shorten(text, most // 16)
    if mime in ("image/png", "image/jpeg"):
        return smaller(content, mime)
    return None


def smaller(content, mime):
    """The picture CONTENT as large as it may be, or as a preview, in base64; None without PIL."""
    try:
        import io

        from PIL import Image

        picture = Image.open(io.BytesIO(content))
        wanted = (pictures and pictures["side"]) or PREVIEW
        for side in (wanted, min(wanted, PREVIEW), PREVIEW // 2, PREVIEW // 4):
            picture.thumbnail((side, side))
            target = io.BytesIO()
            picture.save(target, format="PNG" if mime == "image/png" else "JPEG")
            text = base64.b64encode(target.getvalue()).decode()
            if len(text) <= picture_most():
                return text
        return None
    except Exception:
        return None


# ---- bundles ----


def bundle(value, include=None, exclude=None):
    """The representations of VALUE and their metadata, {} and {} for one that showed itself."""
    custom = shell is not None and shell.has_printers()
    if type(value) in SIMPLE and not custom and include is None and exclude is None:
        return {"text/plain": plain(value)}, {}
    data, details = {}, {}
    known = attempt(type(value).__name__, lambda: tables.represent(value)) or attempt(type(value).__name__, lambda: picture(value))
    own = method(value, "_ipython_display_") if not known else None
    if own is not None:
        attempt("_ipython_display_", own)
        return {}, {}
    if known:
        data.update(known)
    else:
        for mime, made in representations(value, include, exclude):
            if isinstance(made, tuple) and len(made) == 2 and isinstance(made[1], dict):
                made, details[mime] = made
            data[mime] = made
    for mime, made in registered(value) if custom else ():
        data[mime] = made
    if "text/plain" not in data:
        data["text/plain"] = plain(value)
    if include:
        data = {mime: made for mime, made in data.items() if mime in include}
    if exclude:
        data = {mime: made for mime, made in data.items() if mime not in exclude}
    return data, details


def plain(value):
    """repr(VALUE), or what its class has told IPython to print."""
    text = None
    if type(value) not in SIMPLE and "IPython.lib.pretty" in sys.modules and method(value, "_repr_pretty_") is not None:
        text = attempt("_repr_pretty_", lambda: sys.modules["IPython.lib.pretty"].pretty(value))
    if text is None:
        text = attempt("__repr__", lambda: repr(value))
    return text if text is not None else f"<{type(value).__name__} whose __repr__ failed>"


def representations(value, include, exclude):
    made = None
    whole = method(value, "_repr_mimebundle_")
    if whole is not None:
        made = attempt("_repr_mimebundle_", lambda: whole(include=include, exclude=exclude))
    details = {}
    if isinstance(made, tuple) and len(made) == 2:
        made, details = made
    known = made if isinstance(made, dict) else {}
    for mime, item in known.items():
        yield mime, (item, details[mime]) if isinstance(details, dict) and mime in details else item
    for name, mime in METHODS:
        found = method(value, name) if mime not in known else None
        item = attempt(name, found) if found is not None else None
        if item is not None:
            yield mime, item


def method(value, name):
    """The method NAME of VALUE, None where it has none: a class is not shown as its objects are, and what answers to every name
    has not got this one."""
    if isinstance(value, type):
        return None
    try:
        if getattr(value, CANARY, None) is not None:
            return None
        found = getattr(value, name, None)
    except Exception:
        return None
    return found if callable(found) else None


def attempt(name, action):
    try:
        return action()
    except Exception as error:
        if type(error).__name__ != "NotImplementedError":
            warn(f"{name} failed and is left out: {type(error).__name__}: {tracebacks.message_of(error)}")
        return None


def registered(value):
    """What formatters give that the session's code has registered with IPython."""
    for mime, formatter in shell.display_formatter.formatters.items():
        try:
            formatter.lookup(value)
        except KeyError:
            continue
        made = attempt(mime, lambda formatter=formatter: formatter(value))
        if made is not None:
            yield mime, made


# ---- pictures ----


def picture(value):
    """Figures of matplotlib and plotly, and PIL's images; None for anything else."""
    for module, name, represent in (
        ("matplotlib.figure", "Figure", figure),
        ("PIL.Image", "Image", image),
        ("plotly.basedatatypes", "BaseFigure", plotly),
    ):
        cls = getattr(sys.modules.get(module), name, None)
        if cls is not None and isinstance(value, cls):
            return represent(value)
    return None


def figure(value):
    from adder_runner import figures

    return figures.represent(value)


def image(value):
    import io

    target = io.BytesIO()
    whole = value if value.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16") else value.convert("RGB")
    whole.save(target, format="PNG")
    return {"image/png": target.getvalue(), "text/plain": f"<{type(value).__name__} {value.mode} {value.width}x{value.height}>"}


def plotly(value):
    """As data. The page that draws it would bring three megabytes of script along."""
    data = json.loads(value.to_json())
    title = (data.get("layout", {}).get("title") or {}).get("text")
    kinds = ", ".join(sorted({trace.get("type", "scatter") for trace in data.get("data", [])}))
    return {"application/vnd.plotly.v1+json": data, "text/plain": f"<plotly figure: {kinds}{f'; {title}' if title else ''}>"}
