/** The platform's words to customers in Arabic. */
import type { Messages } from "./messages_en.ts";

/** Complete by type; that the placeholders agree is tested. */
export const MESSAGES_AR: Messages = {
  "layout.product": "الموافقة على الدفع",
  "layout.skip": "الانتقال إلى المحتوى الرئيسي",
  "layout.language": "اللغة",
  "layout.sandbox": "بيئة تجريبية: لا تُحوَّل هنا أي أموال حقيقية.",
  "layout.backTo": "العودة إلى شركة {tpp}",
  "layout.help": "هل تحتاج إلى مساعدة؟ {contact}",

  "consent.title": "هل تريد إجراء هذه الدفعة؟",
  "consent.asks": "تطلب شركة {tpp} من {bank} إجراء هذه الدفعة نيابةً عنك.",
  "consent.payment": "الدفعة",
  "consent.amount": "المبلغ الذي ستدفعه",
  "consent.written": "كتبته شركة {tpp} ولم يُتحقَّق منه:",
  "consent.payee": "المستفيد، كما كتبته شركة {tpp} دون تحقُّق منه",
  "consent.payeeAccount": "حساب المستفيد",
  "consent.reference": "المرجع",
  "consent.message": "رسالة إلى المستفيد",
  "consent.bank": "من مصرفك",
  "consent.more": "المزيد عن هذه الدفعة",
  "consent.who": "الجهة التي تطلب الدفع",
  "consent.legalName": "الاسم القانوني",
  "consent.role": "الصفة",
  "consent.registeredSince": "مسجَّلة منذ",
  "consent.registrationNumber": "رقم السجل التجاري",
  "consent.clientId": "المعرّف في الدليل",
  "consent.verified": "تحققنا من هذه البيانات في دليل شركات الدفع المسجَّلة. ولا تستطيع الشركة تغييرها بنفسها.",
  "consent.accounts": "من أي حساب تريد الدفع؟",
  "consent.yourAccounts": "حساباتك",
  "consent.accountEnding": "ينتهي بـ {ending}",
  "consent.balance": "الرصيد: {amount}",
  "consent.balanceUnknown": "الرصيد غير معروف",
  "consent.cannotPay": "لا يمكن استخدام هذا الحساب لهذه الدفعة.",
  "consent.insufficientFunds": "رصيد هذا الحساب أقل من المبلغ. قد يرفض مصرفك الدفعة.",
  "consent.otherCurrency": "عملة هذا الحساب ({accountCurrency}) تختلف عن عملة الدفعة ({paymentCurrency}).",
  "consent.noneCanPay": "لا يمكن استخدام أي من حساباتك لهذه الدفعة، ولذلك يتعذر إجراؤها.",
  "consent.next": "ما الذي سيحدث بعد ذلك",
  "consent.nothingYet": "لن يُدفع أي مبلغ قبل أن توافق.",
  "consent.ifAccept":
    "إذا وافقت، فستعود إلى شركة {tpp}، ويمكنها عندئذٍ إجراء هذه الدفعة وحدها بمبلغ {amount}، مرة واحدة فقط.",
  "consent.ifRefuse": "إذا رفضت، فلن يُدفع أي مبلغ وستعود إلى شركة {tpp}.",
  "consent.timeLeft": "الوقت المتبقي لاتخاذ قرارك: {duration}، حتى الساعة {time}. بعد ذلك لن يُدفع أي مبلغ.",
  "consent.accept": "الموافقة ودفع {amount}",
  "consent.refuse": "الرفض وعدم دفع أي مبلغ",

  "role.PISP": "مقدِّم خدمات بدء الدفع",
  "role.ASPSP": "مصرف",

  "scheme.IBAN": "رقم الآيبان",
  "scheme.BBAN": "رقم الحساب",
  "scheme.SortCodeAccountNumber": "رمز الفرع ورقم الحساب",
  "scheme.PAN": "رقم البطاقة",
  "scheme.cardEnding": "المنتهية بـ {ending}",
  "scheme.Paym": "رقم الهاتف المحمول",
  "scheme.Wallet": "المحفظة",

  "error.happened": "ماذا حدث",
  "error.money": "هل حُوِّلت أي أموال؟",
  "error.noMoney": "لا. لم تُحوَّل أي أموال من هذه الصفحة.",
  "error.nothingAgain":
    "لا، لم يؤدِّ فتح هذه الصفحة إلى تحويل أي أموال. وإذا كنت قد دفعت من قبل، فسيظهر ذلك في المتجر أو التطبيق الذي أتيت منه.",
  "error.todo": "ما الذي يمكنك فعله",
  "error.wayBack": "العودة إلى المتجر أو التطبيق",
  "error.help": "إذا طلبت المساعدة، فاذكر هذا الرقم:",

  "error.link_unusable.title": "لا يمكن استخدام هذا الرابط",
  "error.link_unusable.happened": "الرابط قديم جدًا، أو استُخدم من قبل، أو غير مكتمل.",
  "error.link_unusable.todo":
    "ارجع إلى المتجر أو التطبيق الذي أتيت منه. وإذا لم تظهر دفعتك هناك، فابدأها من جديد.",
  "error.finished.title": "انتهى طلب الدفع هذا",
  "error.finished.happened":
    "سبقت الموافقة على الدفعة أو رفضها، أو انتهى الوقت المتاح للقرار. ولم يعد من الممكن اتخاذ قرار هنا.",
  "error.finished.todo": "ارجع إلى المتجر أو التطبيق الذي أتيت منه لمعرفة ما إذا كانت الدفعة قد تمت.",
  "error.accepted.title": "سبقت الموافقة على هذه الدفعة",
  "error.accepted.happened":
    "تمت الموافقة على الدفعة من قبل، مثلًا في علامة تبويب أو نافذة أخرى. ولم يغيّر ما اخترته في هذه الصفحة شيئًا.",
  "error.accepted.todo":
    "ارجع إلى المتجر أو التطبيق الذي أتيت منه لمعرفة ما إذا كانت الدفعة قد تمت. وإذا كنت لا تريدها، فاطلب المساعدة من المتجر أو التطبيق أو مصرفك.",
  "error.refused.title": "سبق رفض هذه الدفعة",
  "error.refused.happened":
    "رُفضت الدفعة من قبل، مثلًا في علامة تبويب أو نافذة أخرى، أو رفضها مصرفك. ولم يغيّر ما اخترته في هذه الصفحة شيئًا.",
  "error.refused.todo":
    "إذا كنت تريد الدفع رغم ذلك، فابدأ الدفعة من جديد في المتجر أو التطبيق الذي أتيت منه.",
  "error.other_browser.title": "تابع في المتصفح الذي بدأت فيه",
  "error.other_browser.happened":
    "بدأت عملية الدفع هذه في متصفح آخر أو على جهاز آخر. ولحمايتك، لا يمكن إكمالها إلا هناك.",
  "error.other_browser.todo":
    "افتح المتصفح الذي بدأت فيه الدفعة وأكملها هناك، أو ابدأها من جديد في المتجر أو التطبيق. ويجب السماح بملفات تعريف الارتباط.",
  "error.not_authentic.title": "تعذّر تأكيد الرد الوارد من مصرفك",
  "error.not_authentic.happened": "لم نتمكن من التأكد من أن هذا الرد صادر فعلًا عن مصرفك، ولذلك لم نستخدمه.",
  "error.not_authentic.todo":
    "ارجع إلى المتجر أو التطبيق الذي أتيت منه. وإذا لم تظهر دفعتك هناك، فابدأها من جديد. وإذا تكرر ذلك، فاتصل بمصرفك.",
  "error.not_found.title": "لا يوجد شيء في هذا العنوان",
  "error.not_found.happened": "العنوان غير صحيح، أو لم تعد الصفحة موجودة.",
  "error.not_found.todo": "تحقق من العنوان، أو ارجع إلى المتجر أو التطبيق الذي أتيت منه.",
  "error.wrong_method.title": "لا يمكن استخدام هذا العنوان بهذه الطريقة",
  "error.wrong_method.happened": "أرسل متصفحك شيئًا لا تقبله هذه الصفحة، أو فتحها بطريقة غير مخصصة لها.",
  "error.wrong_method.todo":
    "ارجع إلى المتجر أو التطبيق الذي أتيت منه. وإذا لم تظهر دفعتك هناك، فابدأها من جديد.",
  "error.unavailable.title": "حدث خلل لدينا",
  "error.unavailable.happened": "لم نتمكن من إكمال هذه الخطوة. وليس هذا خطأً منك.",
  "error.unavailable.todo":
    "انتظر دقيقة ثم حاول مرة أخرى. وإذا استمرت المشكلة، فابدأ الدفعة من جديد في المتجر أو التطبيق الذي أتيت منه.",
  "error.too_large.title": "أُرسلت بيانات أكثر مما ينبغي",
  "error.too_large.happened": "أرسل متصفحك أكثر مما يمكن لهذه الصفحة استقباله، ولذلك لم تُقرأ البيانات.",
  "error.too_large.todo": "ارجع إلى المتجر أو التطبيق الذي أتيت منه وابدأ الدفعة من جديد.",
};
