/** What both the console and the operator's API say of a message in the same words. */
import { Type } from "../runtime/type.ts";
import { Text, TextOrNull } from "./shapes.ts";

export const ShortLink = Type.Object({
  code: Text("What its short form ends with."),
  target: Text("Where it leads."),
  clicks: Type.Integer(),
  firstClickAt: TextOrNull("When it was first opened."),
  lastClickAt: TextOrNull("When it was last opened."),
});

export const Conversion = Type.Object({
  name: TextOrNull("What the client calls it."),
  processKey: Type.String(),
  endedAt: TextOrNull("When the client told of it."),
});
