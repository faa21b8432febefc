/**
 * What the source has of regular expressions and of functions that are exported and take a text, found by the compiler's own parser: whoever
 * adds one need not list it anywhere.
 */
import { globSync } from "node:fs";
import { join, relative } from "node:path";
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

const ROOT = join(import.meta.dirname, "../../..");
/** The HTTP side, the SMPP side, and what both hand texts to. */
const FOLDERS = [
  "api",
  "admin",
  "auth",
  "intake",
  "pins",
  "schedule",
  "sms",
  "reports",
  "carriers",
  "simulator",
  "smsc",
  "runtime",
  "http",
  "events",
  "node",
  "settings",
  "message",
  "money",
  "catalogue",
];
const TEXT_TYPES = new Set(["string", "string | undefined", "string | null", "Buffer", "Uint8Array"]);

export interface FoundRegex {
  readonly file: string;
  readonly regex: RegExp;
}

export interface Sources {
  readonly regexes: readonly FoundRegex[];
  /** Files that put regular expressions together when they run. */
  readonly builders: readonly string[];
  /** As "src/api/body-parsers.ts parseJson": exported, with a text or octets as the first parameter. */
  readonly functions: readonly string[];
}

/** The fields of nodes that are looked at here. */
interface AnyNode extends Node {
  readonly text?: string;
  readonly name?: { readonly text?: string };
  readonly expression?: { readonly text?: string };
  readonly initializer?: AnyNode;
  readonly modifiers?: readonly Node[];
  readonly parameters?: readonly { readonly type?: Node }[];
}

function isExported({ modifiers = [] }: AnyNode): boolean {
  return modifiers.some(({ kind }) => kind === SyntaxKind.ExportKeyword);
}

function takesText({ parameters = [] }: AnyNode): boolean {
  return TEXT_TYPES.has(parameters[0]?.type?.getText() ?? "");
}

export function readSources(): Sources {
  const regexes: FoundRegex[] = [];
  const builders = new Set<string>();
  const functions: string[] = [];

  const look = (node: AnyNode, file: string): void => {
    if (node.kind === SyntaxKind.RegularExpressionLiteral) {
      const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(node.text!)!;
      regexes.push({ file, regex: new RegExp(source!, flags) });
    }
    if (node.kind === SyntaxKind.PropertyAssignment && node.name?.text === "pattern") {
      // In a schema, whose validator makes it a regular expression with the flag u.
      if (node.initializer?.kind === SyntaxKind.StringLiteral)
        regexes.push({ file, regex: new RegExp(node.initializer.text!, "u") });
      else builders.add(file);
    }
    if (node.kind === SyntaxKind.NewExpression && node.expression?.text === "RegExp") builders.add(file);
    if (node.kind === SyntaxKind.FunctionDeclaration && isExported(node) && takesText(node))
      functions.push(`${file} ${node.name?.text}`);
    if (node.kind === SyntaxKind.VariableStatement && isExported(node)) {
      node.forEachChild((list) => {
        list.forEachChild((declaration) => {
          const { name, initializer } = declaration as AnyNode;
          if (initializer?.kind === SyntaxKind.ArrowFunction && takesText(initializer))
            functions.push(`${file} ${name?.text}`);
        });
      });
    }
    node.forEachChild((child) => look(child as AnyNode, file));
  };

  const api = new API({ cwd: ROOT });
  try {
    const [project] = api.updateSnapshot({ openProject: join(ROOT, "tsconfig.json") }).getProjects();
    for (const path of globSync(`src/{${FOLDERS.join()}}/**/*.ts`, { cwd: ROOT }).sort()) {
      const file = project!.program.getSourceFile(join(ROOT, path));
      if (file === undefined) throw new Error(`${path} is in no program`);
      look(file as AnyNode, relative(ROOT, join(ROOT, path)));
    }
  } finally {
    api.close();
  }
  return { regexes, builders: [...builders], functions };
}
