/** What a reader sees of a transliterated text. */
import assert from "node:assert/strict";
import test from "node:test";
import { isGsm } from "../../src/sms/alphabets.ts";
import type { Transliteration } from "../../src/sms/transliteration/names.ts";
import { transliterate } from "../../src/sms/transliteration.ts";

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
  SERBIAN_CYRILLIC: [
    ["a sentence", "Ђорђе је хтео да чује џез у њиховој кући", "Djordje je hteo da cuje dzez u njihovoj kuci"],
    ["every letter", "абвгдђежзијклљмнњопрстћуфхцчџш", "abvgddjezzijklljmnnjoprstcufhccdzs"],
    ["a capital in a word of small letters", "Љубав Његош Џеп Ђак", "Ljubav Njegos Dzep Djak"],
    ["a capital in a word of capitals", "ЉУБАВ ЊЕГОШ ЏЕП ПАЊ", "LJUBAV NJEGOS DZEP PANJ"],
    ["letters of other languages as in CYRILLIC", "ещё", "eshchyo"],
    ["accents on letters", "гра\u0302д", "grad"],
    ["other scripts stay", "Да ω š 中", "Da ω š 中"],
  ],
  BULGARIAN_CYRILLIC: [
    ["every letter", "абвгдежзийклмнопрстуфхцчшщъьюя", "abvgdezhziyklmnoprstufhtschshshtayyuya"],
    ["a sentence", "Жълтата дюля беше щастлива", "Zhaltata dyulya beshe shtastliva"],
    ["capitals", "Щастие ЩАСТИЕ Ямбол ЯМБОЛ ЦЪРКВА", "Shtastie SHTASTIE Yambol YAMBOL TSARKVA"],
    ["ия at the end of a word", "София, Мария и СОФИЯ; Марияна", "Sofia, Maria i SOFIA; Mariyana"],
    ["the country has its own name", "България БЪЛГАРИЯ български", "Bulgaria BULGARIA balgarski"],
    ["the soft sign", "Кьосев шофьор", "Kyosev shofyor"],
    ["the hard sign is a vowel everywhere", "ъгъл СЪЕДИНЕНИЕ", "agal SAEDINENIE"],
    ["accents on letters", "ѝ и\u0300 въ\u0300лна", "i i valna"],
    ["letters of other languages as in CYRILLIC", "ещё", "eshtyo"],
    ["other scripts stay", "Да ω ş 中", "Da ω ş 中"],
  ],
  BALTIC: [
    [
      "Lithuanian",
      "Įlinkdama fechtuotojo špaga sublykčiojusi pragręžė",
      "Ilinkdama fechtuotojo spaga sublykciojusi pragreze",
    ],
    ["all of Lithuanian", "ĄČĘĖĮŠŲŪŽ ąčęėįšųūž", "ACEEISUUZ aceeisuuz"],
    ["Latvian", "Glāžšķūņa rūķīši dzērumā čiepj", "Glazskuna rukisi dzeruma ciepj"],
    ["all of Latvian", "ĀČĒĢĪĶĻŅŌŖŠŪŽ āčēģīķļņōŗšūž", "ACEGIKLNORSUZ acegiklnorsuz"],
    [
      "Estonian keeps its umlauts",
      "Põdur Žanna püüdis öösel šokolaadi, ÄÖÜÕ",
      "Podur Zanna püüdis öösel sokolaadi, ÄÖÜO",
    ],
    ["letters written with combining accents", "a\u0304 u\u0328 s\u030c o\u0308", "a u s ö"],
    ["other scripts stay", "š ж ω ğ ł ã “", "s ж ω ğ ł ã “"],
  ],
  PORTUGUESE: [
    ["a sentence", "Não há água às três da manhã, avô e avó", "Nao ha agua às tres da manha, avo e avo"],
    ["every letter", "ÁÂÃÀÇÉÊÍÓÔÕÚÜ áâãàçéêíóôõúü", "AAAAÇÉEIOOOUÜ aaaàcéeiooouü"],
    ["ordinals", "1.ª, n.º 5", "1.a, n.o 5"],
    ["letters written with combining accents", "a\u0303o a\u0300 c\u0327", "ao à c"],
    ["other scripts stay", "ã ж ω ğ ł “", "a ж ω ğ ł “"],
  ],
  COLOMBIAN: [
    ["a sentence", "¿Cuándo salió el autobús? ¡Mañana, José!", "¿Cuando salio el autobus? ¡Mañana, José!"],
    ["every letter", "ÁÉÍÑÓÚÜ áéíñóúü", "AÉIÑOUÜ aéiñouü"],
    ["ordinals", "1.ª, N.º 5", "1.a, N.o 5"],
    ["letters written with combining accents", "a\u0301 e\u0301 n\u0303 u\u0308", "a é ñ ü"],
    ["other scripts stay", "á ж ω ğ ł ã “", "a ж ω ğ ł ã “"],
  ],
  GREEK: [
    ["small letters", "Καλημέρα κόσμε", "KAΛHMEPA KOΣME"],
    ["capitals keep their looks", "ΚΑΛΗΜΕΡΑ ΚΟΣΜΕ ΨΩΜΙ", "KAΛHMEPA KOΣME ΨΩMI"],
    ["every letter", "αβγδεζηθικλμνξοπρσςτυφχψω", "ABΓΔEZHΘIKΛMNΞOΠPΣΣTYΦXΨΩ"],
    ["accents", "ΆΈΉΊΌΎΏ ΪΫ άέήίόύώ ϊϋ ΐΰ", "AEHIOYΩ IY AEHIOYΩ IY IY"],
    ["the old spelling", "ᾶρα Ἀθῆναι ᾠδή", "APA AΘHNAI ΩΔH"],
    ["letters of other times and uses", "ϐ ϑ ϕ ϖ ϰ ϱ", "B Θ Φ Π K P"],
    ["letters written with combining accents", "α\u0301 Α\u0301 υ\u0308\u0301", "A A Y"],
    ["an accent before its capital", "\u0384Αννα", "ANNA"],
    ["the question mark and the raised dot", "τι\u037e ναι\u0387", "TI; NAI."],
    ["Latin letters stay", "Δt = 5 Ω, το iPhone σας", "Δt = 5 Ω, TO iPhone ΣAΣ"],
    ["other scripts stay", "ναι ж ş č 中 “", "NAI ж ş č 中 “"],
  ],
  ALL: [
    ["every script", "Ş ř š ã á Щука Ως", "S r s a a Shchuka ΩΣ"],
    ["Cyrillic of no language", "объект България Ђорђе", "obekt Balgariya Djordje"],
    ["what belongs to none stays", "中 “ 😀 ð", "中 “ 😀 ð"],
    ["GSM stays", "äöüñ àé ÆØÅ €[]{}~ Δ £ ğ", "äöüñ àé ÆØÅ €[]{}~ Δ £ g"],
    ["letters written with combining accents", "s\u030c u\u0308 и\u0306 α\u0301", "s ü y A"],
  ],
  NONE: [["nothing", "Щ ş ω e\u0301 “", "Щ ş ω e\u0301 “"]],
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
    ["Greek and Cyrillic by their own rules", "Δευτέρα ΔΕΥΤΕΡΑ ЩУКА Щука", "ΔEYTEPA ΔEYTEPA SHCHUKA Shchuka"],
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

type OfLetters = Exclude<Transliteration, "NON_UNICODE" | "ALL" | "NONE">;

const OWN_LETTERS: Readonly<Record<OfLetters, string>> = {
  TURKISH: "ÇĞİÖŞÜÂÎÛçğıöşüâîû",
  GREEK: "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰΆΈΉΊΌΎΏΪΫ",
  CYRILLIC: "АБВГДЕЁЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдеёжзийклмнопрстуфхцчшщъыьэюяҐЄІЇЎЂЈЉЊЋЏЃЅЌґєіїўђјљњћџѓѕќѐѝ",
  CENTRAL_EUROPEAN: "ÁÂĂÄĄĆÇČĎĐÉĘËĚÍÎĹĽŁŃŇÓÔŐÖŔŘŚŠŞȘŤŢȚÚŮŰÜÝŹŽŻßáâăäąćçčďđéęëěíîĺľłńňóôőöŕřśšşșťţțúůűüýźžż",
  SERBIAN_CYRILLIC: "АБВГДЂЕЖЗИЈКЛЉМНЊОПРСТЋУФХЦЧЏШабвгдђежзијклљмнњопрстћуфхцчџш",
  BULGARIAN_CYRILLIC: "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЬЮЯЍабвгдежзийклмнопрстуфхцчшщъьюяѝ",
  BALTIC: "ĀĄČĒĖĘĢĪĮĶĻŅŌÕŖŠŪŲŽÄÖÜāąčēėęģīįķļņōõŗšūųžäöü",
  PORTUGUESE: "ÁÂÃÀÇÉÊÍÓÔÕÚÜáâãàçéêíóôõúü",
  COLOMBIAN: "ÁÉÍÑÓÚÜáéíñóúü",
};

/** Greek has only capitals in GSM. */
const WITHOUT_CASE: readonly Transliteration[] = ["GREEK"];

test("ALL leaves no letter of any script outside GSM, and does to each what its language does", () => {
  for (const [transliteration, letters] of Object.entries(OWN_LETTERS) as [OfLetters, string][]) {
    const isOfOneLanguage = transliteration === "SERBIAN_CYRILLIC" || transliteration === "BULGARIAN_CYRILLIC";
    for (const letter of letters) {
      const result = transliterate(letter, "ALL");
      if (isOfOneLanguage) assert.ok(isGsm(result), letter);
      else assert.equal(result, transliterate(letter, transliteration), letter);
    }
  }
});

for (const [transliteration, letters] of Object.entries(OWN_LETTERS) as [OfLetters, string][]) {
  test(`${transliteration} leaves none of its own letters outside GSM, whatever stands beside them`, () => {
    for (const first of letters) {
      for (const second of letters) {
        const result = transliterate(first + second, transliteration);
        if (!isGsm(result)) assert.fail(`${first}${second} became ${result}`);
      }
    }
    assert.ok(isGsm(transliterate(letters.normalize("NFD"), transliteration)));
  });

  test(`${transliteration} keeps the case`, { skip: WITHOUT_CASE.includes(transliteration) }, () => {
    for (const letter of letters) {
      const result = transliterate(letter, transliteration);
      if (letter !== letter.toUpperCase()) assert.equal(result, result.toLowerCase(), letter);
      else assert.equal(result.slice(0, 1), result.slice(0, 1).toUpperCase(), letter);
    }
  });
}
