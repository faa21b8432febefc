/** The address bar: every page, filter and place is in it. */
import { useLocation as useIsoLocation } from "preact-iso";
import { type Query, withQuery } from "./api.ts";

let route: (path: string, replace?: boolean) => void = () => {};

let firstUrl: string | null = null;
let moved = false;

/** The frame gives what changes the address. */
export function useRouting(): void {
  const { route: change, url } = useIsoLocation();
  route = change;
  firstUrl ??= url;
  moved ||= url !== firstUrl;
}

/** Whether there is a page of ours to go back to. */
export function hasMoved(): boolean {
  return moved;
}

export function navigate(path: string, options: { replace?: boolean } = {}): void {
  route(path, options.replace ?? false);
}

export interface Place {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

export function useLocation(): Place {
  const { path, query } = useIsoLocation();
  return { path, query };
}

/** Whether letters are being typed: then each would be a step on the way back. */
function isTyping(): boolean {
  return document.activeElement?.matches("input:not([type=checkbox], [type=radio]), textarea") ?? false;
}

/** Changes parameters of the address; null takes one out. What is chosen can be gone back from, what is typed is one step. */
export function setQuery(changes: Query, { replace = isTyping() }: { replace?: boolean } = {}): void {
  const query = { ...Object.fromEntries(new URLSearchParams(location.search)), ...changes };
  navigate(withQuery(location.pathname, query), { replace });
}
