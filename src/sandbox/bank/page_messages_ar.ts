/** The banks' customer messages in Arabic. */
import type { Messages } from "./page_messages_en.ts";

/** The type checks completeness; a test compares the placeholders. */
export const MESSAGES_AR: Messages = {
  "frame.banks": "مصارف تجريبية",
  "frame.sandbox": "بيئة تجريبية",
  "frame.notReal": "هذا مصرف للمحاكاة. لا تُحوَّل هنا أي أموال حقيقية.",
  "frame.language": "اللغة",
  "frame.skip": "الانتقال إلى المحتوى الرئيسي",
  "frame.error": "خطأ: {title}",

  "login.title": "تسجيل الدخول",
  "login.asks": "تطلب شركة {tpp} دفعة من حسابك. سجِّل الدخول لعرضها والموافقة عليها.",
  "login.username": "اسم المستخدم",
  "login.password": "كلمة المرور",
  "login.hint": "العميل التجريبي: {username}، وكلمة المرور {password}",
  "login.continue": "متابعة",
  "login.cancel": "إلغاء",

  "code.confirmTitle": "أكِّد هويتك",
  "code.authoriseTitle": "الموافقة على الدفعة",
  "code.accountNext": "ستختار الحساب الذي تدفع منه في الصفحة التالية.",
  "code.label": "رمز يُستخدم مرة واحدة",
  "code.hint": "الرمز في البيئة التجريبية هو دائمًا {code}",
  "code.confirm": "تأكيد",
  "code.authorise": "موافقة",
  "code.refuse": "رفض",

  "consent.title": "الموافقة على الدفعة",
  "consent.payFrom": "الدفع من",
  "consent.balance": "الرصيد: {amount}",
  "consent.otherCurrency": "عملة هذا الحساب ليست {currency}: ستُرفض الدفعة.",
  "consent.insufficientFunds": "الرصيد لا يكفي: ستُرفض الدفعة.",

  "payment.title": "الدفعة",
  "payment.amount": "المبلغ",
  "payment.payee": "المستفيد، كما كتبته شركة {tpp} دون تحقُّق منه",
  "payment.unnamed": "مستفيد بلا اسم",
  "payment.payeeAccount": "حساب المستفيد",
  "payment.debtorAccount": "من حسابك",
  "payment.reference": "المرجع، كما كتبته شركة {tpp}",
  "payment.askedBy": "بطلب من",

  "complaint.wrong_credentials": "اسم المستخدم أو كلمة المرور غير صحيح.",
  "complaint.wrong_code": "الرمز غير صحيح.",
  "complaint.no_account": "اختر الحساب الذي تدفع منه.",
  "tries.one": "بقيت محاولة واحدة.",
  "tries.two": "بقيت محاولتان.",
  "tries.other": "عدد المحاولات الباقية: {count}.",

  "problem.not_found.title": "الصفحة غير موجودة",
  "problem.not_found.text": "لا يوجد شيء في هذا العنوان.",
  "problem.toBanks": "عرض مصارف هذه البيئة التجريبية",
  "problem.unavailable.title": "حاول مرة أخرى بعد قليل",
  "problem.unavailable.text":
    "لا يستطيع المصرف المتابعة الآن. لم تُحوَّل أي أموال من هذه الصفحة. أعد تحميل الصفحة، أو ارجع إلى المتجر.",
  "problem.link.title": "لا يمكن استخدام هذا الرابط",
  "problem.link.text":
    "هذا الرابط غير صالح، أو استُخدم من قبل. لا يُدفع أي مبلغ بفتحه. ارجع إلى المتجر وابدأ من جديد.",
  "problem.over.title": "انتهت زيارتك",
  "problem.over.text": "انتهت هذه الزيارة، أو بدأت في متصفح آخر. ارجع إلى المتجر لمعرفة ما حدث لدفعتك.",
  "problem.form.title": "يُرجى البدء من جديد",
  "problem.form.text": "هذا النموذج لا يخص زيارتك، ولذلك لم يُنفَّذ شيء. لم تُحوَّل أي أموال.",

  "list.title": "المصارف",
  "home.title": "عن {bank}",
  "home.known": "مصرف في البيئة التجريبية، تعرفه المنصة باسم {code}.",
  "home.ownScreen": "يعرض هذا المصرف شاشة الموافقة الخاصة به.",
  "home.platformScreen": "يترك هذا المصرف شاشة الموافقة للمنصة.",
  "home.secrets":
    "يصل العملاء إلى هنا من متجر عبر المنصة. كلمة المرور هي دائمًا {password}، والرمز الذي يُستخدم مرة واحدة هو دائمًا {code}.",
  "home.username": "اسم المستخدم {username}",
  "home.ledger": "أوامر الدفع المنفَّذة والأرصدة (JSON)",
  "faults.title": "عندما يحدث خلل",
  "faults.text":
    "كل دفعة بأحد هذه المبالغ تجعل هذا المصرف يتعطل، في كل مرة. ولأي دفعة أخرى، أرسل {body} بصيغة JSON بطريقة POST إلى {path}.",

  "account.current": "حساب جارٍ",
  "account.savings": "حساب توفير",
  "account.sterling": "حساب بالجنيه الإسترليني",
};
