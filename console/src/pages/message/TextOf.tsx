/** The text of a message, with the characters that made it Unicode marked, and its octets part by part. */
import { useState } from "preact/hooks";
import type { MessageAnswer } from "../../../../src/api/console/message-schemas.ts";
import { isGsm } from "../../../../src/sms/alphabets.ts";
import { type Body, encodeBody } from "../../../../src/sms/body.ts";
import type { Encoding } from "../../../../src/sms/encodings.ts";
import { Button } from "../../parts/Button.tsx";
import { codeOf, piecesOf, unseenName } from "./letters.ts";

const NAMES: Readonly<Record<string, string>> = { gsm7: "GSM", ucs2: "Unicode" };
const LANGUAGES: Readonly<Record<string, string>> = { tr: "Turkish", es: "Spanish", pt: "Portuguese" };

/** "gsm7+tr.s" is the GSM alphabet with the Turkish table; "octets 4 64" a binary message. */
export function encodingWords(encoding: string): string {
  if (encoding.startsWith("octets")) return "binary";
  const language = LANGUAGES[encoding.split("+")[1]?.slice(0, 2) ?? ""];
  return language === undefined ? (NAMES[encoding] ?? encoding) : `GSM with the ${language} table`;
}

function bodyOf({ text, encoding }: MessageAnswer): Body {
  const [kind, dataCoding, esmClass] = encoding.split(" ");
  if (kind !== "octets") return { text, encoding: encoding as Encoding };
  return { text, encoding: { dataCoding: Number(dataCoding), esmClass: Number(esmClass) } };
}

const hex = (octets: Uint8Array): string => [...octets].map((octet) => octet.toString(16).padStart(2, "0")).join(" ");

/** It is in the reader's own language, and between words of any direction. */
function Unseen({ letter }: { letter: string }) {
  return (
    <bdi class="message-unseen" dir="ltr">
      {unseenName(letter) ?? ""} {codeOf(letter)}
    </bdi>
  );
}

export function TextOf({ message }: { message: MessageAnswer }) {
  const [isOpen, setOpen] = useState(false);
  const isUnicode = message.encoding === "ucs2";
  const guilty = isUnicode ? [...new Set([...message.text].filter((letter) => !isGsm(letter)))] : [];
  return (
    <section class="message-text" aria-labelledby="message-text-title">
      <div class="message-text-head">
        <h2 id="message-text-title">Text</h2>
        <span class="soft">
          {[...message.text].length} characters, {encodingWords(message.encoding)}, {message.parts}{" "}
          {message.parts === 1 ? "part" : "parts"}
        </span>
        <Button kind="quiet" small aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Octets
        </Button>
      </div>
      <p class={message.encoding.startsWith("octets") ? "message-body mono" : "message-body"} dir="auto">
        {piecesOf(message.text, isUnicode).map(({ text, kind }, index) => {
          if (kind === "unseen") return <Unseen key={index} letter={text} />;
          return kind === "guilty" ? <mark key={index}>{text}</mark> : text;
        })}
      </p>
      {guilty.length > 0 && (
        <p class="soft">
          It is Unicode because of{" "}
          {guilty.slice(0, 8).map((letter) => (
            <span key={letter} class="message-guilty">
              {unseenName(letter) === null ? (
                <>
                  <bdi>
                    <mark>{letter}</mark>
                  </bdi>{" "}
                  <span class="mono">{codeOf(letter)}</span>
                </>
              ) : (
                <Unseen letter={letter} />
              )}
            </span>
          ))}
          {guilty.length > 8 && `and ${guilty.length - 8} others`}
        </p>
      )}
      {isOpen && <Octets message={message} />}
    </section>
  );
}

function Octets({ message }: { message: MessageAnswer }) {
  const parts = encodeBody(bodyOf(message), { flash: message.flash, reference: 0 });
  return (
    <ol class="message-octets">
      {parts.map(({ octets, hasHeader, length }, index) => (
        <li key={index}>
          <span class="soft">
            Part {index + 1}: {octets.length} octets{hasHeader ? ", with a header" : ""}, length {length}
          </span>
          <code>{hex(octets)}</code>
        </li>
      ))}
    </ol>
  );
}
