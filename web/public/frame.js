// SPDX-License-Identifier: Apache-2.0
// The document that shows HTML which code displayed. It has an origin of its own, and its policy lets it load nothing but this.
// The page posts it sanitised HTML once; it posts its height whenever that changes.
"use strict";
addEventListener("message", (event) => {
  if (event.source !== parent || typeof event.data?.html !== "string") return;
  const { html, scheme } = event.data;
  document.documentElement.style.colorScheme = scheme === "dark" ? "dark" : "light";
  document.body.innerHTML = html;
  const tell = () => parent.postMessage({ height: Math.ceil(document.documentElement.getBoundingClientRect().height) }, "*");
  new ResizeObserver(tell).observe(document.documentElement);
  tell();
});
