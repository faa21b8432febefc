/** `npm run pictures` draws the pictures of the docs anew. A test holds docs/pictures against what this makes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PICTURES } from "./pictures.ts";

const FOLDER = join(import.meta.dirname, "../../docs/pictures");

mkdirSync(FOLDER, { recursive: true });
for (const [name, draw] of Object.entries(PICTURES)) writeFileSync(join(FOLDER, `${name}.svg`), draw().toString());
