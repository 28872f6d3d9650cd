// The scripts of the report page as one: a page on disk cannot import from files beside it. `make web` runs this.
// With a path as its argument it writes there, so that a test can compare.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const pages = "../../src/whileai/pages";
// every page carries this code, so every page carries its licence
const licence = readFileSync(here("node_modules/diff/LICENSE"), "utf8").trim();
await build({
  absWorkingDir: here("."),
  entryPoints: [here(`${pages}/web/main.js`)],
  outfile: process.argv[2] ?? here(`${pages}/assets/report.js`),
  nodePaths: [here("node_modules")],
  banner: { js: `/* diffArrays is that of the npm package diff:\n\n${licence}\n*/` },
  bundle: true,
  charset: "ascii",
  format: "iife",
  target: "es2022",
  legalComments: "none",
  logLevel: "warning",
});
