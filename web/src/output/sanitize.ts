// SPDX-License-Identifier: Apache-2.0
// HTML from sandboxes, made harmless. What is left loads nothing and runs nothing, so that no policy ever has to refuse it.
import DOMPurify from "dompurify";
import { neutralHtml, STYLE_ATTRIBUTE } from "./neutral_html.js";

type Config = NonNullable<Parameters<typeof DOMPurify.sanitize>[1]>;

const LONGEST_HTML = 4 * 1024 * 1024; // characters
const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml)[;,]/i;
const LINK = /^(?:https?:\/\/|mailto:)/i;
// Anything in a style that could load something, and escapes, behind which it could hide.
const BAD_STYLE = /url\s*\(|image-set|image\s*\(|cross-fade|element\s*\(|src\s*\(|paint\s*\(|@|\\|expression|-moz-binding|behavior\s*:|javascript:|<|position\s*:\s*fixed/i;
const URL_ATTRIBUTES = ["src", "href", "xlink:href", "action", "formaction", "poster", "background", "cite", "longdesc", "data", "ping"];
// The same in a sheet, which may have other rules with "@". A "<" could end it.
const BAD_SHEET = /url\s*\(|image-set|image\s*\(|cross-fade|element\s*\(|src\s*\(|paint\s*\(|@import|@font-face|@namespace|@document|@charset|\\|<|expression|-moz-binding/i;
// Attributes of SVG that may refer to something by url().
const REFERRING = /url\s*\(/i;

const FORBIDDEN_TAGS = [
  ..."script noscript iframe frame frameset object embed applet portal link meta base title".split(" "),
  ..."form input button select option optgroup textarea datalist output fieldset dialog".split(" "),
  ..."audio video source track image use feimage animate animatemotion animatetransform set foreignobject template slot".split(" "),
];
const FORBIDDEN_ATTRIBUTES = "srcset imagesrcset sizes name is nonce autofocus contenteditable popover ping target formaction action poster background".split(" ");

const common: Config = {
  FORBID_TAGS: FORBIDDEN_TAGS,
  FORBID_ATTR: FORBIDDEN_ATTRIBUTES,
  FORBID_CONTENTS: ["script", "style", "template", "noscript", "iframe", "object", "title"],
  ALLOW_UNKNOWN_PROTOCOLS: false,
  SANITIZE_DOM: true,
};

const purify = DOMPurify(window);
purify.addHook("uponSanitizeAttribute", (node, data) => {
  if (!keptAttribute(node.nodeName.toLowerCase(), data.attrName, data.attrValue)) data.keepAttr = false;
});
purify.addHook("afterSanitizeAttributes", (node) => {
  const tag = node.nodeName.toLowerCase();
  if (tag === "img" && !node.hasAttribute("alt")) node.setAttribute("alt", "");
  if (tag !== "a") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

/** Whether the attribute may stay on an element of the name TAG. */
function keptAttribute(tag: string, name: string, value: string): boolean {
  if (name === "style") return false; // it is called otherwise until it has been looked at
  if (name === STYLE_ATTRIBUTE) return !BAD_STYLE.test(value);
  if (tag === "a" && name === "href") return LINK.test(value.trim());
  if (tag === "img" && name === "src") return DATA_IMAGE.test(value.trim());
  if (URL_ATTRIBUTES.includes(name)) return false;
  return !REFERRING.test(value) || /^url\(\s*["']?#[\w-]+["']?\s*\)$/i.test(value.trim());
}

/** How the frame shows what has no style of its own. */
const FRAME_SHEET = `<style>
body { margin: 0; font: 14px/1.5 system-ui, sans-serif; color: light-dark(#1b1e1c, #e6eae8); background: light-dark(#ffffff, #191d1b); overflow-wrap: anywhere; }
a { color: light-dark(#0b6b4f, #58d3a8); }
pre, code { font-family: ui-monospace, monospace; font-size: 13px; }
table { border-collapse: collapse; border: 0; font-size: 13px; overflow-wrap: normal; }
th, td { padding: 3px 10px; border: 0; border-bottom: 1px solid light-dark(#dde1df, #2d3431); text-align: right; }
</style>`;

/** HTML for the frame of output (html_frame.tsx), which has an origin of its own. */
export function frameHtml(text: string): string {
  const { html, sheets } = neutralHtml(text.slice(0, LONGEST_HTML));
  const clean = String(purify.sanitize(html, { ...common, FORCE_BODY: true }));
  const styles = sheets.filter((sheet) => !BAD_SHEET.test(sheet)).map((sheet) => `<style>${sheet}</style>`);
  return FRAME_SHEET + styles.join("") + clean.replaceAll(` ${STYLE_ATTRIBUTE}="`, ' style="');
}

const PAGE_TAGS =
  "h1 h2 h3 h4 h5 h6 p br hr ul ol li blockquote pre code em strong del s sub sup a img table thead tbody tr th td span div details summary kbd mark dl dt dd";
const PAGE_ATTRIBUTES = "href src alt title align colspan rowspan start class target rel".split(" ");

/**
 * HTML made from Markdown, for the page itself: no styles, no names, only pictures that are in the text. It is an object that Trusted
 * Types accept where the browser has them.
 */
export function pageHtml(text: string): string {
  const config: Config = {
    ALLOWED_TAGS: PAGE_TAGS.split(" "),
    ALLOWED_ATTR: PAGE_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
  };
  return purify.sanitize(neutralHtml(text.slice(0, LONGEST_HTML)).html, config) as unknown as string;
}
