/** What a reader sees of a transliterated text. */
import assert from "node:assert/strict";
import test from "node:test";
import { isGsm } from "../../src/sms/alphabets.ts";
import { type Transliteration, transliterate } from "../../src/sms/transliteration.ts";

type Examples = readonly (readonly [promise: string, text: string, result: string])[];

const EXAMPLES: Readonly<Record<Transliteration, Examples>> = {
  TURKISH: [
    ["capitals", "ŞİŞLİ", "SISLI"],
    ["every letter", "ÇĞIİÖŞÜ çğıiöşü ÂÎÛ âîû", "ÇGIIÖSÜ cgiiösü AIU aiu"],
    ["a sentence", "Artık Türkçe karakterli smslerinizi rahatlıkla", "Artik Türkce karakterli smslerinizi rahatlikla"],
    [
      "letters written with combining accents",
      "s\u0327is\u0327 g\u0306 I\u0307zmir c\u0327 u\u0308 A\u0302",
      "sis g Izmir c ü A",
    ],
    ["an i with the dot that lowercasing left", "i\u0307stanbul", "istanbul"],
    ["other scripts stay", "Ş и ώ č 中 “ 😀", "S и ώ č 中 “ 😀"],
  ],
  CENTRAL_EUROPEAN: [
    ["Czech", "Příliš žluťoučký kůň úpěl ďábelské ódy", "Prilis zlutoucky kun upel dabelské ody"],
    [
      "Slovak",
      "Vypätá dcéra grófa Maxwella s IQ nižším ako kôň núti čeľaď hrýzť hŕbu jabĺk",
      "Vypäta dcéra grofa Maxwella s IQ nizsim ako kon nuti celad hryzt hrbu jablk",
    ],
    ["Polish", "Zażółć gęślą jaźń ŁÓDŹ", "Zazolc gesla jazn LODZ"],
    ["Hungarian keeps its umlauts", "Árvíztűrő tükörfúrógép", "Arvizturo tükörfurogép"],
    ["Croatian and Slovene", "Đuro Šimić, Žužemberk, Čačak", "Duro Simic, Zuzemberk, Cacak"],
    [
      "Romanian, with comma and with cedilla",
      "București, Timișoara, ţară, Întâlnire, ȚȘ",
      "Bucuresti, Timisoara, tara, Intalnire, TS",
    ],
    ["Albanian and German", "Çfarë bën? Straße Äpfel", "Çfare ben? Straße Äpfel"],
    ["letters written with combining accents", "s\u030c z\u030c a\u0301 e\u0301 o\u030b", "s z a é o"],
    ["other scripts stay", "ř ж ω ğ ñ ã “", "r ж ω ğ ñ ã “"],
  ],
  CYRILLIC: [
    [
      "Russian",
      "Съешь же ещё этих мягких французских булок, да выпей чаю",
      "Sesh zhe eshchyo etikh myagkikh frantsuzskikh bulok, da vypey chayu",
    ],
    ["a capital in a word of small letters", "Щука Юля Чехов Ёлка", "Shchuka Yulya Chekhov Yolka"],
    ["a capital in a word of capitals", "ЩУКА ЮЛЯ БОРЩ", "SHCHUKA YULYA BORSHCH"],
    ["a capital alone", "Я и Ж.", "Ya i Zh."],
    [
      "the hard sign of Russian and the vowel of Bulgarian",
      "объект ОБЪЁМ България ъгъл ТЪРНОВО",
      "obekt OBYOM Balgariya agal TARNOVO",
    ],
    ["Ukrainian", "Їжак Ґанок Є Київ щастя", "Yizhak Ganok Ye Kiyiv shchastya"],
    ["Belarusian", "Воўк і мядзведзь", "Vouk i myadzvedz"],
    ["Serbian", "Ђорђе Љубав ЊЕГОШ Ћирић Џеп ја", "Djordje Ljubav NJEGOSH Ciric Dzep ja"],
    ["Macedonian", "Ѓорѓи Ќеркa ѕвезда", "Gjorgji Kjerka dzvezda"],
    ["Kazakh", "Қазақстан Ұлы Өскемен", "Qazaqstan Uly Oskemen"],
    ["accents on letters", "за́мок замо́к и\u0306 е\u0308", "zamok zamok y yo"],
    ["the numero sign", "Заказ № 5", "Zakaz No 5"],
    ["other scripts stay", "Да ω ş č 中 “«»” 😀", "Da ω ş č 中 “«»” 😀"],
  ],
  GREEK: [
    ["small letters", "Καλημέρα κόσμε", "Kalimera kosme"],
    ["a word of capitals keeps its looks", "ΚΑΛΗΜΕΡΑ ΚΟΣΜΕ ΨΩΜΙ", "KAΛHMEPA KOΣME ΨΩMI"],
    ["capitals with accents", "ΆΈΉΊΌΎΏ ΪΫ", "AEHIOYΩ IY"],
    ["a capital that GSM has, in a word of small letters", "Δευτέρα Θεός Ψωμί Ξένος", "Deftera Theos Psomi Xenos"],
    ["a capital among capitals in a mixed word", "ΘΕός ΧΑχα", "THEos CHAcha"],
    ["diphthongs", "αυτό Ευρώπη αύριο ευχαριστώ ουρανός ηυρα", "afto Evropi avrio efcharisto ouranos ivra"],
    ["vowels that marks keep apart", "αϋπνία άυλος", "aypnia aylos"],
    ["gamma before gamma, xi and chi", "άγγελος σφίγξ έλεγχος αγκαλιά", "angelos sfinx elenchos agkalia"],
    ["mp at the border of a word", "Μπάμπης μπορώ κλαμπ", "Bampis boro klab"],
    ["final sigma", "σεισμός", "seismos"],
    ["the old spelling", "ᾶρα Ἀθῆναι ᾠδή", "ara Athinai odi"],
    ["letters written with combining accents", "α\u0301 Α\u0301 υ\u0308", "a A y"],
    ["a formula stays", "Δt = 5 Ω", "Δt = 5 Ω"],
    ["other scripts stay", "ναι ж ş č 中 “", "nai ж ş č 中 “"],
  ],
  NON_UNICODE: [
    ["typography", "“Hi” ‘it’s’ „so“ «да» ‹x› – — … • ·", '"Hi" \'it\'s\' "so" "da" \'x\' - - ... * .'],
    ["spaces of every width", "a\u00a0b\u2009c\u3000d\te", "a b c d e"],
    ["line ends", "a\u2028b\u2029c\u0085d", "a\nb\nc\nd"],
    ["what cannot be seen", "a\u200bb\ufeffc\u00add\u200ee\u2060f", "abcdef"],
    ["signs", "™ © ® ½ × ± № → ` ₺", "TM (C) (R) 1/2 x +/- No -> ' TL"],
    ["GSM stays", "äöüñ ÆØÅ €[]{}~ Δ £", "äöüñ ÆØÅ €[]{}~ Δ £"],
    ["as few accents go as must", "ǿ ǻ ế ậ ñ ǘ ÿ", "ø å e a ñ ü y"],
    ["accents written apart", "e\u0301 x\u030c u\u0308\u0301 o\u0308", "é x ü ö"],
    ["other Latin letters", "ð þ ł œ ĳ ſ ə", "d th l oe ij s e"],
    ["Greek and Cyrillic by their own rules", "Δευτέρα ΔΕΥΤΕΡΑ ЩУКА Щука", "Deftera ΔEYTEPA SHCHUKA Shchuka"],
    ["other scripts", "中文 한국 سلام नमस्ते", "ZhongWen HanGug slam nmste"],
    ["an emoji that people type", "🙂 😉 ❤️ 👍🏽 💔 ✅", ":) ;) <3 +1 </3 v"],
    ["any other emoji", "🚀 🦄 🏳️‍🌈", "? ? ?"],
    ["a family is one picture", "👨‍👩‍👧‍👦!", "?!"],
    ["a flag is its country, a keycap its digit", "🇩🇪 1️⃣ 🆗", "DE 1 OK"],
    ["a flag of tags is one picture", "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "?"],
    ["a skin tone alone", "🏽", "?"],
    ["what has no counterpart", "\ue000 \u0001 \ud800 \u{10ffff}", "? ? ? ?"],
  ],
};

for (const [transliteration, examples] of Object.entries(EXAMPLES) as [Transliteration, Examples][]) {
  for (const [promise, text, result] of examples) {
    test(`${transliteration}: ${promise}`, () => {
      assert.equal(transliterate(text, transliteration), result);
      assert.equal(transliterate(result, transliteration), result);
    });
  }
}

const OWN_LETTERS: Readonly<Record<Exclude<Transliteration, "NON_UNICODE">, string>> = {
  TURKISH: "ÇĞİÖŞÜÂÎÛçğıöşüâîû",
  GREEK: "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰΆΈΉΊΌΎΏΪΫ",
  CYRILLIC: "АБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдеёжзийклмнопрстуфхцчшщъыьэюяҐЄІЇЎЂЈЉЊЋЏЃЅЌґєіїўђјљњћџѓѕќѐѝ",
  CENTRAL_EUROPEAN: "ÁÂĂÄĄĆÇČĎĐÉĘËĚÍÎĹĽŁŃŇÓÔŐÖŔŘŚŠŞȘŤŢȚÚŮŰÜÝŹŽŻßáâăäąćçčďđéęëěíîĺľłńňóôőöŕřśšşșťţțúůűüýźžż",
};

for (const [transliteration, letters] of Object.entries(OWN_LETTERS) as [keyof typeof OWN_LETTERS, string][]) {
  test(`${transliteration} leaves none of its own letters outside GSM, whatever stands beside them`, () => {
    for (const first of letters) {
      for (const second of letters) {
        const result = transliterate(first + second, transliteration);
        if (!isGsm(result)) assert.fail(`${first}${second} became ${result}`);
      }
    }
    assert.ok(isGsm(transliterate(letters.normalize("NFD"), transliteration)));
  });

  test(`${transliteration} keeps the case`, () => {
    for (const letter of letters) {
      const result = transliterate(letter, transliteration);
      if (letter !== letter.toUpperCase()) assert.equal(result, result.toLowerCase(), letter);
      else assert.equal(result.slice(0, 1), result.slice(0, 1).toUpperCase(), letter);
    }
  });
}
