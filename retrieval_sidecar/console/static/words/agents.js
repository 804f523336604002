export const AGENTS = {
  "agents.title": { en: "Agents", ar: "الوكلاء" },
  "agents.intro": {
    en: "Each agent answers calls on its numbers, from what it may search.",
    ar: "يردّ كل وكيل على المكالمات الواردة إلى أرقامه، ممّا يجوز له البحث فيه.",
  },
  "agents.none": {
    en: "There are no agents yet.",
    ar: "لا يوجد وكلاء بعد.",
  },
  "agents.noNumbers": { en: "No number", ar: "بلا رقم" },
  "agents.instructions": { en: "Instructions", ar: "التعليمات" },
  "agents.knowledge": { en: "Knowledge", ar: "المعرفة" },
  "agents.all": { en: "All searchable", ar: "كلها قابلة للبحث" },
  "agents.selected": { en: "Restricted", ar: "مقيَّدة" },
};
