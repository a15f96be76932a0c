/** The banks' customer messages in Spanish. */
import type { Messages } from "./page_messages_en.ts";

/** The type checks completeness; a test compares the placeholders. */
export const MESSAGES_ES: Messages = {
  "frame.banks": "Bancos de prueba",
  "frame.sandbox": "Pruebas",
  "frame.notReal": "Este es un banco simulado. No se mueve dinero real.",
  "frame.language": "Idioma",
  "frame.skip": "Ir al contenido principal",
  "frame.error": "Error en: {title}",

  "login.title": "Identifíquese",
  "login.asks": "{tpp} pide un pago desde su cuenta. Identifíquese para verlo y autorizarlo.",
  "login.username": "Usuario",
  "login.password": "Contraseña",
  "login.hint": "Cliente de prueba: {username}, contraseña {password}",
  "login.continue": "Continuar",
  "login.cancel": "Cancelar",

  "code.confirmTitle": "Confirme que es usted",
  "code.authoriseTitle": "Autorice el pago",
  "code.accountNext": "En la página siguiente podrá elegir la cuenta desde la que pagar.",
  "code.label": "Código de un solo uso",
  "code.hint": "En el entorno de pruebas el código es siempre {code}",
  "code.confirm": "Confirmar",
  "code.authorise": "Autorizar",
  "code.refuse": "Rechazar",

  "consent.title": "Autorice el pago",
  "consent.payFrom": "Pagar desde",
  "consent.balance": "Saldo: {amount}",
  "consent.otherCurrency": "Esta cuenta no está en {currency}: el pago se rechazaría.",
  "consent.insufficientFunds": "No hay saldo suficiente: el pago se rechazaría.",

  "payment.title": "Pago",
  "payment.amount": "Importe",
  "payment.payee": "Beneficiario, según {tpp} (sin comprobar)",
  "payment.unnamed": "Beneficiario sin nombre",
  "payment.payeeAccount": "Cuenta del beneficiario",
  "payment.debtorAccount": "Desde su cuenta",
  "payment.reference": "Referencia, según {tpp}",
  "payment.askedBy": "Solicitado por",

  "complaint.wrong_credentials": "El usuario o la contraseña no son correctos.",
  "complaint.wrong_code": "El código no es correcto.",
  "complaint.no_account": "Elija la cuenta desde la que pagar.",
  "tries.one": "Queda 1 intento.",
  "tries.two": "Quedan 2 intentos.",
  "tries.other": "Quedan {count} intentos.",

  "problem.not_found.title": "Página no encontrada",
  "problem.not_found.text": "No hay nada en esta dirección.",
  "problem.toBanks": "Ver los bancos de este entorno de pruebas",
  "problem.unavailable.title": "Inténtelo de nuevo en un momento",
  "problem.unavailable.text":
    "El banco no puede continuar en este momento. Desde esta página no se ha movido dinero. Recargue la página o vuelva a la tienda.",
  "problem.link.title": "Este enlace no se puede usar",
  "problem.link.text":
    "Este enlace no es válido o ya se usó. Al abrirlo no se paga nada. Vuelva a la tienda y empiece de nuevo.",
  "problem.over.title": "Su visita ha terminado",
  "problem.over.text":
    "Esta visita ha terminado o se empezó en otro navegador. Vuelva a la tienda para ver qué ha pasado con su pago.",
  "problem.form.title": "Empiece de nuevo",
  "problem.form.text":
    "Este formulario no corresponde a su visita, así que no se ha hecho nada. No se ha movido dinero.",

  "list.title": "Bancos",
  "home.title": "Acerca de {bank}",
  "home.known": "Un banco del entorno de pruebas, que la plataforma conoce como {code}.",
  "home.ownScreen": "Este banco muestra su propia pantalla de consentimiento.",
  "home.platformScreen": "Este banco deja la pantalla de consentimiento a la plataforma.",
  "home.secrets":
    "Los clientes llegan aquí desde una tienda, a través de la plataforma. La contraseña es siempre {password} y el código de un solo uso, siempre {code}.",
  "home.username": "Usuario {username}",
  "home.ledger": "Órdenes de pago ejecutadas y saldos (JSON)",
  "faults.title": "Cuando algo falla",
  "faults.text":
    "Un pago por uno de estos importes hace que este banco falle siempre. Para cualquier otro pago, envíe {body} como JSON mediante POST a {path}.",

  "account.current": "Cuenta corriente",
  "account.savings": "Cuenta de ahorro",
  "account.sterling": "Cuenta en libras",
};
