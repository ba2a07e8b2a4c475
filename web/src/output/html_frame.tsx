// SPDX-License-Identifier: Apache-2.0
// HTML that code displayed, sanitised, in a frame with an origin of its own and a policy that lets it load nothing.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { resyncs } from "../app/feed.js";
import { isDark } from "../app/theme.js";
import { frameHtml } from "./sanitize.js";
import "./output.css";

const FIRST_PX = 40;
const HIGHEST_PX = 800;

export function HtmlFrame({ html }: { html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const loaded = useSignal(false);
  const height = useSignal(FIRST_PX);
  const attempt = useSignal(resyncs.peek());
  const shows = useRef(false);
  const scheme = isDark.value ? "dark" : "light";
  useEffect(() => {
    const hear = (event: MessageEvent) => {
      const told: unknown = event.source === frame.current?.contentWindow ? event.data?.height : undefined;
      if (typeof told !== "number" || told < 0) return;
      height.value = Math.min(Math.ceil(told) + 2, HIGHEST_PX);
      shows.current = true;
    };
    addEventListener("message", hear);
    return () => removeEventListener("message", hear);
  }, []);
  const resynced = resyncs.value;
  useEffect(() => {
    if (shows.current || attempt.peek() === resynced) return;
    loaded.value = false; // the daemon was away when it was asked for the frame
    attempt.value = resynced;
  }, [resynced]);
  const isLoaded = loaded.value;
  useEffect(() => {
    // The frame's origin is opaque, so no other target than "*" reaches it. It shows nothing but this.
    if (isLoaded) frame.current?.contentWindow?.postMessage({ html: frameHtml(html), scheme }, "*");
  }, [isLoaded, html, scheme]);
  return (
    <iframe
      key={attempt.value}
      ref={frame}
      class="output-frame"
      title="HTML output"
      src="/frame.html"
      sandbox="allow-scripts"
      referrerpolicy="no-referrer"
      style={{ height: `${height.value}px` }}
      onLoad={() => (loaded.value = true)}
    />
  );
}
