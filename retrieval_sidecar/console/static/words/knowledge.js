const items = {
  en: { one: "{count} item", other: "{count} items" },
  ar: { zero: "لا عناصر", one: "عنصر واحد", two: "عنصران", few: "{count} عناصر", many: "{count} عنصرًا", other: "{count} عنصر" },
};
const instructions = {
  en: { one: "{count} instruction", other: "{count} instructions" },
  ar: { zero: "لا تعليمات", one: "تعليمة واحدة", two: "تعليمتان", few: "{count} تعليمات", many: "{count} تعليمة", other: "{count} تعليمة" },
};

export const KNOWLEDGE = {
  "knowledge.title": { en: "What {name} may search", ar: "ما يجوز لـ {name} البحث فيه" },
  "knowledge.back": { en: "Agents", ar: "الوكلاء" },
  "knowledge.intro": {
    en: "Instructions and knowledge are chosen apart. Whatever you choose, callers are only told what is published, public and for the phone.",
    ar: "تُختار التعليمات والمعرفة كلٌّ على حدة. ومهما اخترت، لا يُقال للمتصلين إلا ما هو منشور وعام ومخصص للهاتف.",
  },
  "knowledge.all": { en: "All searchable", ar: "الكل قابل للبحث" },
  "knowledge.restricted": {
    en: { one: "Restricted · {count} selected", other: "Restricted · {count} selected" },
    ar: {
      zero: "مقيَّد · لا شيء محدَّد", one: "مقيَّد · واحد محدَّد", two: "مقيَّد · اثنان محدَّدان",
      few: "مقيَّد · {count} محدَّدة", many: "مقيَّد · {count} محدَّدًا", other: "مقيَّد · {count} محدَّد",
    },
  },
  "knowledge.unsaved": { en: "Not saved", ar: "غير محفوظ" },
  "knowledge.allHelp": {
    en: "Everything here is searched. Check something, and only that is.",
    ar: "يُبحث في كل ما هنا. ضع علامة على شيء فيُبحث فيه وحده.",
  },
  "knowledge.restrictedHelp": {
    en: "Only what is checked is searched. A checked folder also holds what is added to it later.",
    ar: "لا يُبحث إلا فيما عليه علامة. والمجلد المحدَّد يشمل ما يُضاف إليه لاحقًا.",
  },
  "knowledge.emptySelection": {
    en: "What was selected is gone, so this agent finds nothing here. Select something else, or open it to everything.",
    ar: "زال ما كان محدَّدًا، فلا يجد هذا الوكيل شيئًا هنا. حدِّد شيئًا آخر، أو افتحه للكل.",
  },
  "knowledge.openAll": { en: "Open to everything", ar: "افتحه للكل" },
  "knowledge.gone": {
    en: {
      one: "{count} selected entry can't be given on the phone any more. It stays selected.",
      other: "{count} selected entries can't be given on the phone any more. They stay selected.",
    },
    ar: {
      zero: "كل المحدَّد متاح.", one: "عنصر محدَّد واحد لم يعد متاحًا على الهاتف، ويبقى محدَّدًا.",
      two: "عنصران محدَّدان لم يعودا متاحين على الهاتف، ويبقيان محدَّدين.",
      few: "{count} عناصر محدَّدة لم تعد متاحة على الهاتف، وتبقى محدَّدة.",
      many: "{count} عنصرًا محدَّدًا لم يعد متاحًا على الهاتف، ويبقى محدَّدًا.",
      other: "{count} عنصر محدَّد لم يعد متاحًا على الهاتف، ويبقى محدَّدًا.",
    },
  },
  "knowledge.bases": { en: "Knowledge bases", ar: "قواعد المعرفة" },
  "knowledge.folders": { en: "Folders", ar: "المجلدات" },
  "knowledge.moreFolders": { en: "Show more folders", ar: "عرض مزيد من المجلدات" },
  "knowledge.moreDirectories": { en: "Show more directories", ar: "عرض مزيد من الأدلة" },
  "knowledge.none": { en: "There is nothing here yet.", ar: "لا شيء هنا بعد." },
  "knowledge.emptyFolder": { en: "Empty", ar: "فارغ" },
  "knowledge.noFolder": { en: "In no folder", ar: "خارج أي مجلد" },
  "knowledge.itemsOf": { en: "Items of {name}", ar: "عناصر {name}" },
  "knowledge.contentsOf": { en: "What is in {name}", ar: "محتوى {name}" },
  "knowledge.moreOf": { en: "Show more of {name}", ar: "عرض المزيد من {name}" },
  "knowledge.items": items,
  "knowledge.instructions": instructions,
  "knowledge.selectedWithin": {
    en: { one: "{count} selected", other: "{count} selected" },
    ar: { zero: "لا محدَّد", one: "واحد محدَّد", two: "اثنان محدَّدان", few: "{count} محدَّدة", many: "{count} محدَّدًا", other: "{count} محدَّد" },
  },
  "knowledge.included": { en: "Included with {name}", ar: "مشمول مع {name}" },
  "knowledge.draft": { en: "Draft", ar: "مسودة" },
  "knowledge.website": { en: "Website", ar: "موقع" },
  "knowledge.workflow": { en: "Workflow", ar: "سير عمل" },
  "knowledge.integration": { en: "Integration", ar: "تكامل" },
  "knowledge.upload": { en: "Upload", ar: "ملف مرفوع" },
  "knowledge.viewer": {
    en: "Your key can look at this selection but not change it.",
    ar: "يتيح مفتاحك الاطلاع على هذا الاختيار دون تغييره.",
  },

  "knowledge.clear.title": { en: "Open {category} to everything?", ar: "فتح {category} للكل؟" },
  "knowledge.clear.text": {
    en: "This is the last selection. Without it, {name} may search everything in {category}, also what is added later. Nothing changes until you save.",
    ar: "هذا آخر اختيار. وبدونه يجوز لـ {name} البحث في كل {category}، حتى ما يُضاف لاحقًا. لا يتغير شيء قبل أن تحفظ.",
  },
  "knowledge.clear.textGone": {
    en: "{name} may then search everything in {category}, also what is added later. Nothing changes until you save.",
    ar: "يجوز لـ {name} عندئذ البحث في كل {category}، حتى ما يُضاف لاحقًا. لا يتغير شيء قبل أن تحفظ.",
  },
  "knowledge.clear.no": { en: "Keep it restricted", ar: "أبقِه مقيَّدًا" },

  "knowledge.changed": { en: "Changes to {categories} are not saved.", ar: "تغييرات {categories} لم تُحفظ." },
  "knowledge.and": { en: "{one} and {other}", ar: "{one} و{other}" },
  "knowledge.save": { en: "Save", ar: "احفظ" },
  "knowledge.saving": { en: "Saving…", ar: "جارٍ الحفظ…" },
  "knowledge.saved": { en: "Saved. It holds from the next search on, also in calls that are under way.", ar: "حُفظ. يسري من البحث التالي، حتى في المكالمات الجارية." },
  "knowledge.discard": { en: "Discard changes", ar: "تجاهل التغييرات" },
  "knowledge.discard.title": { en: "Discard your changes?", ar: "تجاهل تغييراتك؟" },
  "knowledge.discard.text": { en: "The checks become what was saved last.", ar: "تعود العلامات إلى ما حُفظ آخر مرة." },
  "knowledge.discard.no": { en: "Keep editing", ar: "تابع التعديل" },
  "knowledge.failed": { en: "It was not saved. Everything you checked is still here.", ar: "لم يُحفظ. كل ما وضعت عليه علامة ما زال هنا." },
  "knowledge.unsure": {
    en: "It may or may not have been saved. Everything you checked is still here: save again.",
    ar: "قد يكون حُفظ أو لم يُحفظ. كل ما وضعت عليه علامة ما زال هنا: احفظ مرة أخرى.",
  },
  "knowledge.conflict": {
    en: "Somebody else has changed this agent's selection since you opened it. Yours was not saved, and theirs is not lost.",
    ar: "غيّر شخص آخر اختيار هذا الوكيل منذ أن فتحته. لم يُحفظ اختيارك، ولم يضع اختياره.",
  },
  "knowledge.conflict.mine": { en: "Put my changes on top of theirs", ar: "ضع تغييراتي فوق تغييراته" },
  "knowledge.conflict.theirs": { en: "Discard mine and show theirs", ar: "تجاهل تغييراتي وأظهر تغييراته" },
  "knowledge.rebased": {
    en: "Your changes now stand on top of theirs. Look them over, then save.",
    ar: "أصبحت تغييراتك فوق تغييراته. راجعها ثم احفظ.",
  },
  "knowledge.rebasedSame": { en: "What is saved now is what you chose.", ar: "المحفوظ الآن هو ما اخترته." },
  "knowledge.theirs": { en: "This is what is saved now.", ar: "هذا هو المحفوظ الآن." },
};
