/**
 * An operation's schemas become code (a validator for what it takes, a serializer for each answer) when it is first asked for, and not at start: some
 * 250 operations take more than a second of CPU together, and most services use a few dozen of them. A schema that several operations share, such as
 * that of errors, is compiled once. What is wanted at once can be compiled beforehand, in turns of its own (`compile`).
 *
 * A schema that cannot be compiled would be found by its first caller, so a test compiles all of them (test/service/start.test.ts).
 */
import { createRequire } from "node:module";
import { setImmediate } from "node:timers/promises";
import type { FastifySchemaControllerOptions, FastifyValidationResult } from "fastify/types/schema.js";
import { once, perKey } from "../runtime/lazy.ts";
import { writtenOut } from "./whole-numbers.ts";

type Factory = NonNullable<FastifySchemaControllerOptions["compilersFactory"]>;
type Serializer = (value: unknown) => string;
/** A schema of an operation, as Fastify gives it to a compiler. */
interface RouteSchema {
  readonly schema: object;
  readonly url: string;
  readonly method?: string;
  /** Which part of a request it is for, or which status of an answer. */
  readonly httpPart?: string;
  readonly httpStatus?: string;
}
/** How both compilers are made: with the schemas that others refer to, and their options. */
type Build<Code> = (external: unknown, options: unknown) => (route: RouteSchema) => Code;

/** The compilers that Fastify itself takes, loaded with the first schema: they are as large as Fastify. */
const fastifyRequire = createRequire(createRequire(import.meta.url).resolve("fastify"));
const VALIDATORS = "@fastify/ajv-compiler";
const SERIALIZERS = "@fastify/fast-json-stringify-compiler";

/** Something that is compiled when it is first called, or by `compile` before that. */
interface Lazy<Compiled> {
  readonly call: Compiled;
  readonly compile: () => void;
}

function lazyValidator(make: () => FastifyValidationResult): Lazy<FastifyValidationResult> {
  const made = once(make);
  const call: FastifyValidationResult = (value) => {
    const validate = made();
    const outcome = validate(value) || (writtenOut(value, validate.errors) && validate(value));
    // Fastify reads them from the function that it called.
    if (outcome === false) call.errors = validate.errors ?? null;
    return outcome;
  };
  return { call, compile: made };
}

function lazySerializer(make: () => Serializer): Lazy<Serializer> {
  const made = once(make);
  return { call: (value) => made()(value), compile: made };
}

/** By compiler and schema, for all servers of this process: they all have the same options, and a test has many. */
const compiledBy = perKey((_compiler: string) => new WeakMap<object, Lazy<unknown>>());

export class LazySchemas {
  /** By the path of an operation: what compiles its schemas. */
  readonly #operations = new Map<string, Set<() => void>>();

  readonly #codes = new Map<string, unknown>();

  /** For Fastify, in place of compilers that work at once. */
  readonly compilers = {
    buildValidator: this.#lazily(VALIDATORS, lazyValidator),
    buildSerializer: this.#lazily(SERIALIZERS, lazySerializer),
  } as unknown as Factory;

  #lazily<Code>(compiler: string, lazy: (make: () => Code) => Lazy<Code>): Build<Code> {
    return (external, options) => {
      const compile = once(() => (fastifyRequire(compiler) as () => Build<Code>)()(external, options));
      const known = compiledBy(compiler) as WeakMap<object, Lazy<Code>>;
      return (route) => {
        const { schema, url, method = "", httpPart, httpStatus = "" } = route;
        const code = known.get(schema) ?? lazy(() => compile()(route));
        known.set(schema, code);
        this.#note(url, code.compile);
        this.#codes.set(codeName(method, url, httpPart ?? httpStatus), code.call);
        return code.call;
      };
    };
  }

  /** What checks a part of a request to an operation ("body"), or writes its answer with this status. */
  codeOf<Code>(method: string, path: string, what: string): Code {
    const code = this.#codes.get(codeName(method, path, what));
    if (code === undefined) throw new Error(`${method} ${path} has no schema for ${what}`);
    return code as Code;
  }

  #note(path: string, compile: () => void): void {
    const known = this.#operations.get(path);
    if (known === undefined) this.#operations.set(path, new Set([compile]));
    else known.add(compile);
  }

  /** Compiles those of these paths, one at a time, so that requests come in between; gives how many they were. Without paths all of them. */
  async compile(
    paths: Iterable<string> = this.#operations.keys(),
    goesOn: () => boolean = () => true,
  ): Promise<number> {
    const wanted = new Set([...paths].flatMap((path) => [...(this.#operations.get(path) ?? [])]));
    let count = 0;
    for (const compile of wanted) {
      await setImmediate();
      if (!goesOn()) break;
      try {
        compile();
      } catch (error) {
        throw new Error(`a schema of ${this.#pathsOf(compile).join(", ")} cannot be compiled`, { cause: error });
      }
      count++;
    }
    return count;
  }

  #pathsOf(compile: () => void): string[] {
    return [...this.#operations].filter(([, known]) => known.has(compile)).map(([path]) => path);
  }
}

function codeName(method: string, path: string, what: string): string {
  return `${method} ${path} ${what}`;
}
