// SPDX-License-Identifier: Apache-2.0
// HTML from sandboxes, made harmless. What is left loads nothing and runs nothing, so that no policy ever has to refuse it.
import DOMPurify from "dompurify";

type Config = NonNullable<Parameters<typeof DOMPurify.sanitize>[1]>;

const LONGEST_HTML = 4 * 1024 * 1024; // characters
const DATA_IMAGE = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml)[;,]/i;
const LINK = /^(?:https?:\/\/|mailto:)/i;
// Anything in a style that could load something, and escapes, behind which it could hide.
const BAD_STYLE = /url\s*\(|image-set|image\s*\(|cross-fade|element\s*\(|src\s*\(|paint\s*\(|@|\\|expression|-moz-binding|behavior\s*:|javascript:|<|position\s*:\s*fixed/i;
const URL_ATTRIBUTES = ["src", "href", "xlink:href", "action", "formaction", "poster", "background", "cite", "longdesc", "data", "ping"];
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
purify.addHook("uponSanitizeElement", (node, data) => {
  if (data.tagName === "style" && node.textContent && BAD_SHEET.test(node.textContent)) node.parentNode?.removeChild(node);
});
purify.addHook("uponSanitizeAttribute", (node, data) => {
  if (!keptAttribute(node.nodeName.toLowerCase(), data.attrName, data.attrValue)) data.keepAttr = false;
});
purify.addHook("afterSanitizeAttributes", (node) => {
  if (node.nodeName.toLowerCase() !== "a") return;
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer nofollow");
});

const BAD_SHEET = /url\s*\(|image-set|image\s*\(|cross-fade|element\s*\(|src\s*\(|paint\s*\(|@import|@font-face|@namespace|@document|@charset|\\|<|expression|-moz-binding/i;

/** Whether the attribute may stay on an element of the name TAG. */
function keptAttribute(tag: string, name: string, value: string): boolean {
  if (name === "style") return !BAD_STYLE.test(value);
  if (tag === "a" && name === "href") return LINK.test(value.trim());
  if (tag === "img" && name === "src") return DATA_IMAGE.test(value.trim());
  if (URL_ATTRIBUTES.includes(name)) return false;
  return !REFERRING.test(value) || /^url\(\s*["']?#[\w-]+["']?\s*\)$/i.test(value.trim());
}

/** HTML for the frame of output (html_frame.tsx), which has an origin of its own. */
export function frameHtml(html: string): string {
  const config: Config = { ...common, ADD_TAGS: ["style"], FORCE_BODY: true };
  return String(purify.sanitize(html.slice(0, LONGEST_HTML), config));
}

const PAGE_TAGS =
  "h1 h2 h3 h4 h5 h6 p br hr ul ol li blockquote pre code em strong del s sub sup a img table thead tbody tr th td span div details summary kbd mark dl dt dd";
const PAGE_ATTRIBUTES = "href src alt title align colspan rowspan start class target rel".split(" ");

/**
 * HTML made from Markdown, for the page itself: no styles, no names, only pictures that are in the text. It is an object that Trusted
 * Types accept where the browser has them.
 */
export function pageHtml(html: string): string {
  const config: Config = {
    ALLOWED_TAGS: PAGE_TAGS.split(" "),
    ALLOWED_ATTR: PAGE_ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_TRUSTED_TYPE: true,
  };
  return purify.sanitize(html.slice(0, LONGEST_HTML), config) as unknown as string;
}
