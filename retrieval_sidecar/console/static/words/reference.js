/* The document itself is in English, whatever the console speaks. */
export const REFERENCE = {
  "reference.title": { en: "API reference", ar: "مرجع الواجهة" },
  "reference.intro": {
    en: "Everything that this console does can be done by programs too. Version {version}.",
    ar: "كل ما تفعله هذه اللوحة يمكن للبرامج فعله أيضًا. الإصدار {version}.",
  },
  "reference.source": { en: "The document itself, for generators and viewers", ar: "الوثيقة نفسها للمولّدات وأدوات العرض" },
  "reference.permission": { en: "Needs {permission}", ar: "يتطلب {permission}" },
  "reference.public": { en: "Needs no key", ar: "لا يتطلب مفتاحًا" },
  "reference.parameters": { en: "Parameters", ar: "المعاملات" },
  "reference.body": { en: "Body: {type}", ar: "المتن: {type}" },
  "reference.answers": { en: "Answers", ar: "الإجابات" },
  "reference.schemas": { en: "Schemas", ar: "المخططات" },
  "reference.name": { en: "Name", ar: "الاسم" },
  "reference.type": { en: "Type", ar: "النوع" },
  "reference.meaning": { en: "Meaning", ar: "المعنى" },
  "reference.required": { en: "required", ar: "إلزامي" },
  "reference.filter": { en: "Find an operation", ar: "ابحث عن عملية" },
  "reference.found": {
    en: { one: "{count} operation", other: "{count} operations" },
    ar: { zero: "لا عمليات", one: "عملية واحدة", two: "عمليتان", few: "{count} عمليات", many: "{count} عملية", other: "{count} عملية" },
  },
};
