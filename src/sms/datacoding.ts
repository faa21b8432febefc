/**
 * The data coding scheme (3GPP TS 23.038 §4): one octet that says which alphabet the user data is in and whether the
 * message is a flash message (class 0). SMPP's data_coding gives some of the same values other meanings (3 is Latin-1
 * there): that is the carrier's business.
 */
export type DataAlphabet = "gsm7" | "octets" | "ucs2";

const ALPHABET_BITS: Readonly<Record<DataAlphabet, number>> = { gsm7: 0x00, octets: 0x04, ucs2: 0x08 };
/** The general group, 00x1: bit 4 says that the class bits, here 0, count. The other spelling, 1111, has no UCS-2. */
const CLASS_0 = 0x10;

export function dataCodingOf(alphabet: DataAlphabet, flash: boolean): number {
  return ALPHABET_BITS[alphabet] | (flash ? CLASS_0 : 0);
}

export function readDataCoding(dataCoding: number): { alphabet: DataAlphabet; flash: boolean } {
  const group = dataCoding >> 4;
  // 00xx and 01xx, the general groups. Compressed text (bit 5) is data to us: nobody sends it.
  if (group < 0x8) {
    const compressed = (dataCoding & 0x20) !== 0;
    return { alphabet: compressed ? "octets" : generalAlphabet(dataCoding), flash: (dataCoding & 0x13) === CLASS_0 };
  }
  if (group === 0xf) return { alphabet: dataCoding & 0x04 ? "octets" : "gsm7", flash: (dataCoding & 0x03) === 0 };
  // 1110: message waiting, in UCS-2. Reserved groups are read as the default alphabet (§4).
  return { alphabet: group === 0xe ? "ucs2" : "gsm7", flash: false };
}

function generalAlphabet(dataCoding: number): DataAlphabet {
  const bits = dataCoding & 0x0c;
  if (bits === ALPHABET_BITS.octets) return "octets";
  // 11 is reserved and reads as the default alphabet.
  return bits === ALPHABET_BITS.ucs2 ? "ucs2" : "gsm7";
}
