// SPDX-License-Identifier: Apache-2.0
// Builds the page. Packages are in the folder of $ADDER_WEB_PACKAGES (build/web-packages), the result goes to $ADDER_WEB_OUT.
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

// The page knows its version, so that it notices a daemon of another.
const version = {
  name: "adder-version",
  transformIndexHtml: (html) => html.replace("<title>", `<meta name="adder-version" content="${process.env.ADDER_WEB_VERSION ?? ""}" />\n    <title>`),
};

// KaTeX names each of its fonts in three formats; all browsers that the page supports read the first.
const fonts = {
  name: "katex-fonts",
  enforce: "pre",
  transform: (code, id) => (id.endsWith("katex.min.css") ? code.replace(/,url\([^)]+\.(?:woff|ttf)\) format\("\w+"\)/g, "") : undefined),
};

export default {
  plugins: [version, fonts],
  root: here("."),
  base: "/",
  cacheDir: process.env.ADDER_WEB_CACHE,
  resolve: { alias: [{ find: /^adder-client$/, replacement: here("../clients/typescript/src/index.ts") }] },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: process.env.ADDER_WEB_OUT ?? here("../build/web"),
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // a font in a style sheet would be a data: URL, which the page's policy refuses
    chunkSizeWarningLimit: 1000,
    sourcemap: false,
  },
  // `vite` alone serves the sources while somebody works on them, in front of the daemon at this address.
  server: process.env.ADDER_WEB_DAEMON
    ? { proxy: Object.fromEntries(["/v1", "/readyz", "/healthz"].map((path) => [path, process.env.ADDER_WEB_DAEMON])) }
    : {},
};
