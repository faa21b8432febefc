/** Every operation that the service describes in its OpenAPI document: what tests that hold for all of them go through. */
import type { TestService } from "./service.ts";

export interface Operation {
  readonly method: string;
  readonly path: string;
  /** Whether it asks who is calling. */
  readonly guarded: boolean;
  /** The types of body that it takes; none for GET. */
  readonly bodies: readonly string[];
}

interface Described {
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly content: Record<string, unknown> };
}

export async function operationsOf(service: TestService): Promise<readonly Operation[]> {
  const { json } = await service.call("GET", "/openapi.json");
  const paths = Object.entries(json.paths as Record<string, Record<string, Described>>);
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      method: method.toUpperCase(),
      path,
      guarded: (described.security ?? []).length > 0,
      bodies: Object.keys(described.requestBody?.content ?? {}),
    })),
  );
}
