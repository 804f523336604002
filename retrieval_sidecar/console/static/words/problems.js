/* What is said when the sidecar answers with an error: what happened, and what to do. */
export const PROBLEMS = {
  "problem.title": { en: "This could not be loaded", ar: "تعذّر تحميل هذا" },
  "problem.network": {
    en: "The sidecar cannot be reached. Check your connection and try again.",
    ar: "لا يمكن الوصول إلى الخادم. تحقّق من اتصالك وحاول مرة أخرى.",
  },
  "problem.unavailable": {
    en: "The sidecar is busy or its database is down. Try again in a moment.",
    ar: "الخادم مشغول أو قاعدة بياناته متوقفة. حاول مرة أخرى بعد لحظات.",
  },
  "problem.deadline_exceeded": {
    en: "It took too long, and was stopped. Try again.",
    ar: "استغرق الأمر وقتًا أطول من اللازم فأوقِف. حاول مرة أخرى.",
  },
  "problem.internal_error": {
    en: "The sidecar made a mistake of its own. Try again; if it stays, its log has the cause.",
    ar: "وقع خطأ في الخادم نفسه. حاول مرة أخرى، وإن تكرر فسببه في سجلّه.",
  },
  "problem.not_found": {
    en: "It is not there. It may have been removed.",
    ar: "غير موجود. ربما أُزيل.",
  },
  "problem.forbidden": {
    en: "Your key may not do this. Ask for one with the permission to edit.",
    ar: "لا يسمح مفتاحك بهذا. اطلب مفتاحًا له إذن التعديل.",
  },
  "problem.unauthorized": { en: "You are not signed in.", ar: "لم تسجّل الدخول." },
  "problem.too_many_requests": {
    en: "Too many tries. Wait a minute, then try again.",
    ar: "محاولات كثيرة. انتظر دقيقة ثم حاول مرة أخرى.",
  },
  "problem.precondition_failed": {
    en: "Somebody else has changed this since you opened it.",
    ar: "غيّر شخص آخر هذا منذ أن فتحته.",
  },
  "problem.told": { en: "The sidecar says: {detail}", ar: "يقول الخادم: {detail}" },
};
