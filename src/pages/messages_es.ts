/** The platform's words to customers in Spanish. */
import type { Messages } from "./messages_en.ts";

/** Complete by type; that the placeholders agree is tested. */
export const MESSAGES_ES: Messages = {
  "layout.product": "Aprobación de pagos",
  "layout.skip": "Ir al contenido principal",
  "layout.language": "Idioma",
  "layout.sandbox": "Entorno de pruebas: aquí no se mueve dinero real.",
  "layout.backTo": "Volver a {tpp}",
  "layout.help": "¿Necesita ayuda? {contact}",

  "consent.title": "¿Quiere hacer este pago?",
  "consent.asks": "{tpp} pide a {bank} que haga este pago en su nombre.",
  "consent.payment": "El pago",
  "consent.amount": "Usted paga",
  "consent.written": "Escrito por {tpp}, sin comprobar:",
  "consent.payee": "Beneficiario, según {tpp} (sin comprobar)",
  "consent.payeeAccount": "Cuenta del beneficiario",
  "consent.reference": "Referencia",
  "consent.message": "Concepto",
  "consent.bank": "Desde su banco",
  "consent.more": "Más sobre este pago",
  "consent.who": "Quién lo pide",
  "consent.legalName": "Razón social",
  "consent.role": "Función",
  "consent.registeredSince": "Registrada desde",
  "consent.registrationNumber": "Número de registro de la empresa",
  "consent.clientId": "Identificador en el directorio",
  "consent.verified":
    "Hemos comprobado estos datos en el directorio de empresas de pago registradas. La empresa no puede cambiarlos por su cuenta.",
  "consent.accounts": "¿Desde qué cuenta paga?",
  "consent.yourAccounts": "Sus cuentas",
  "consent.accountEnding": "Termina en {ending}",
  "consent.balance": "Saldo: {amount}",
  "consent.balanceUnknown": "Saldo desconocido",
  "consent.cannotPay": "Esta cuenta no se puede usar para este pago.",
  "consent.insufficientFunds":
    "El saldo de esta cuenta es menor que el importe. Su banco puede rechazar el pago.",
  "consent.otherCurrency":
    "Esta cuenta está en una moneda ({accountCurrency}) distinta de la del pago ({paymentCurrency}).",
  "consent.noneCanPay":
    "Ninguna de sus cuentas se puede usar para este pago, por lo que no es posible realizarlo.",
  "consent.next": "Qué pasa después",
  "consent.nothingYet": "No se paga nada hasta que usted acepte.",
  "consent.ifAccept":
    "Si acepta, volverá a {tpp}, que podrá hacer entonces únicamente este pago de {amount}, una sola vez.",
  "consent.ifRefuse": "Si rechaza, no se pagará nada y volverá a {tpp}.",
  "consent.timeLeft":
    "Dispone de {duration} para decidir (hora límite: {time}). Pasado ese plazo, no se pagará nada.",
  "consent.accept": "Aceptar y pagar {amount}",
  "consent.refuse": "Rechazar y no pagar nada",

  "role.PISP": "Proveedor de servicios de iniciación de pagos",
  "role.ASPSP": "Banco",

  "scheme.IBAN": "IBAN",
  "scheme.BBAN": "Número de cuenta",
  "scheme.SortCodeAccountNumber": "Código de sucursal (sort code) y número de cuenta",
  "scheme.PAN": "Número de tarjeta",
  "scheme.cardEnding": "terminada en {ending}",
  "scheme.Paym": "Número de móvil",
  "scheme.Wallet": "Monedero electrónico",

  "error.happened": "Qué ha pasado",
  "error.money": "¿Se ha movido dinero?",
  "error.noMoney": "No. Desde esta página no se ha movido dinero.",
  "error.nothingAgain":
    "No por abrir esta página. Si ya pagó antes, lo verá en la tienda o aplicación de la que viene.",
  "error.todo": "Qué puede hacer",
  "error.wayBack": "Volver a la tienda o aplicación",
  "error.help": "Si pide ayuda, indique este número:",

  "error.link_unusable.title": "Este enlace no se puede usar",
  "error.link_unusable.happened": "El enlace es demasiado antiguo, ya se usó o está incompleto.",
  "error.link_unusable.todo":
    "Vuelva a la tienda o aplicación de la que viene. Si allí no aparece su pago, empiécelo de nuevo.",
  "error.finished.title": "Esta solicitud de pago ha terminado",
  "error.finished.happened":
    "El pago ya se aceptó o se rechazó, o se acabó el tiempo para decidir. Aquí ya no se puede decidir.",
  "error.finished.todo": "Vuelva a la tienda o aplicación de la que viene para ver si el pago se hizo.",
  "error.accepted.title": "Este pago ya se aceptó",
  "error.accepted.happened":
    "El pago se aceptó antes, por ejemplo en otra pestaña o ventana. Lo que ha elegido en esta página no ha cambiado nada.",
  "error.accepted.todo":
    "Vuelva a la tienda o aplicación de la que viene para ver si el pago se hizo. Si no lo quiere, pida ayuda a la tienda, a la aplicación o a su banco.",
  "error.refused.title": "Este pago ya se rechazó",
  "error.refused.happened":
    "El pago se rechazó antes, por ejemplo en otra pestaña o ventana, o por parte de su banco. Lo que ha elegido en esta página no ha cambiado nada.",
  "error.refused.todo":
    "Si a pesar de todo quiere pagar, empiece de nuevo el pago en la tienda o aplicación de la que viene.",
  "error.other_browser.title": "Continúe en el navegador en el que empezó",
  "error.other_browser.happened":
    "Este pago se empezó en otro navegador o en otro dispositivo. Por su seguridad, solo se puede terminar allí.",
  "error.other_browser.todo":
    "Abra el navegador en el que empezó el pago y termínelo allí, o empiécelo de nuevo en la tienda o aplicación. Las cookies deben estar permitidas.",
  "error.not_authentic.title": "No se ha podido confirmar la respuesta de su banco",
  "error.not_authentic.happened":
    "No hemos podido asegurarnos de que esta respuesta venga de su banco, así que no la hemos usado.",
  "error.not_authentic.todo":
    "Vuelva a la tienda o aplicación de la que viene. Si allí no aparece su pago, empiécelo de nuevo. Si vuelve a pasar, póngase en contacto con su banco.",
  "error.not_found.title": "No hay nada en esta dirección",
  "error.not_found.happened": "La dirección no es correcta o la página ya no existe.",
  "error.not_found.todo": "Compruebe la dirección o vuelva a la tienda o aplicación de la que viene.",
  "error.wrong_method.title": "Esta dirección no se puede usar así",
  "error.wrong_method.happened":
    "Su navegador ha enviado algo que esta página no admite o la ha abierto de una forma no prevista.",
  "error.wrong_method.todo":
    "Vuelva a la tienda o aplicación de la que viene. Si allí no aparece su pago, empiécelo de nuevo.",
  "error.unavailable.title": "Algo no funciona por nuestra parte",
  "error.unavailable.happened": "No hemos podido terminar este paso. No es culpa suya.",
  "error.unavailable.todo":
    "Espere un minuto e inténtelo de nuevo. Si sigue sin funcionar, empiece de nuevo el pago en la tienda o aplicación de la que viene.",
  "error.too_large.title": "Se han enviado demasiados datos a la vez",
  "error.too_large.happened":
    "Su navegador ha enviado más datos de los que esta página admite, así que no se han leído.",
  "error.too_large.todo": "Vuelva a la tienda o aplicación de la que viene y empiece de nuevo el pago.",
};
