/** What the rules of some countries ask of a sender. It is kept with the message, and handed to the carriers whose profile names a place for it. */
export interface Regional {
  /** India: what the operators' register of senders and templates (DLT) knows the message by. */
  readonly indiaDlt?: {
    readonly principalEntityId: string;
    readonly contentTemplateId?: string;
    readonly telemarketerId?: string;
  };
  /** Turkey: whom the register of consents (IYS) is asked for. */
  readonly turkeyIys?: { readonly recipientType: "BIREYSEL" | "TACIR"; readonly brandCode?: number };
  readonly southKorea?: { readonly resellerCode?: number; readonly title?: string };
}

/** The fields that are known and given, and nothing else; null where there is none. */
export function readRegional(regional: Regional | undefined): Regional | null {
  const { indiaDlt, turkeyIys, southKorea } = regional ?? {};
  const read: Regional = {
    ...(indiaDlt === undefined
      ? {}
      : { indiaDlt: given(indiaDlt, ["principalEntityId", "contentTemplateId", "telemarketerId"]) }),
    ...(turkeyIys === undefined ? {} : { turkeyIys: given(turkeyIys, ["recipientType", "brandCode"]) }),
    ...(southKorea === undefined ? {} : { southKorea: given(southKorea, ["resellerCode", "title"]) }),
  };
  return Object.keys(read).length === 0 ? null : read;
}

function given<Thing extends object>(thing: Thing, names: readonly (keyof Thing)[]): Thing {
  return Object.fromEntries(
    names.filter((name) => thing[name] !== undefined).map((name) => [name, thing[name]]),
  ) as Thing;
}
