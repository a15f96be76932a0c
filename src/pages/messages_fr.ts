/** The platform's words to customers in French. */
import type { Messages } from "./messages_en.ts";

/** Complete by type; that the placeholders agree is tested. */
export const MESSAGES_FR: Messages = {
  "layout.product": "Approbation de paiement",
  "layout.skip": "Aller au contenu principal",
  "layout.language": "Langue",
  "layout.sandbox": "Environnement d’essai\u00a0: aucun argent réel ne circule ici.",
  "layout.backTo": "Retourner chez {tpp}",
  "layout.help": "Besoin d’aide\u00a0? {contact}",

  "consent.title": "Voulez-vous effectuer ce paiement\u00a0?",
  "consent.asks": "{tpp} demande à {bank} d’effectuer ce paiement pour vous.",
  "consent.payment": "Le paiement",
  "consent.amount": "Vous payez",
  "consent.written": "Écrit par {tpp}, non vérifié\u00a0:",
  "consent.payee": "Bénéficiaire, selon {tpp} (non vérifié)",
  "consent.payeeAccount": "Compte du bénéficiaire",
  "consent.reference": "Référence",
  "consent.message": "Motif",
  "consent.bank": "Depuis votre banque",
  "consent.more": "En savoir plus sur ce paiement",
  "consent.who": "Qui fait la demande",
  "consent.legalName": "Dénomination sociale",
  "consent.role": "Rôle",
  "consent.registeredSince": "Enregistrée depuis le",
  "consent.registrationNumber": "Numéro d’immatriculation",
  "consent.clientId": "Identifiant dans l’annuaire",
  "consent.verified":
    "Nous avons vérifié ces informations dans l’annuaire des entreprises de paiement enregistrées. L’entreprise ne peut pas les modifier elle-même.",
  "consent.accounts": "Depuis quel compte payer\u00a0?",
  "consent.yourAccounts": "Vos comptes",
  "consent.accountEnding": "Se termine par {ending}",
  "consent.balance": "Solde\u00a0: {amount}",
  "consent.balanceUnknown": "Solde inconnu",
  "consent.cannotPay": "Ce compte ne peut pas être utilisé pour ce paiement.",
  "consent.insufficientFunds":
    "Le solde de ce compte est inférieur au montant. Votre banque peut rejeter le paiement.",
  "consent.otherCurrency":
    "Ce compte est dans une autre devise ({accountCurrency}) que le paiement ({paymentCurrency}).",
  "consent.noneCanPay":
    "Aucun de vos comptes ne peut être utilisé pour ce paiement\u00a0: il ne peut donc pas être effectué.",
  "consent.next": "Ce qui se passe ensuite",
  "consent.nothingYet": "Rien n’est payé tant que vous n’avez pas accepté.",
  "consent.ifAccept":
    "Si vous acceptez, vous revenez chez {tpp}, qui pourra alors effectuer uniquement ce paiement de {amount}, une seule fois.",
  "consent.ifRefuse": "Si vous refusez, rien n’est payé et vous revenez chez {tpp}.",
  "consent.timeLeft": "Vous avez {duration} pour décider, jusqu’à {time}. Passé ce délai, rien n’est payé.",
  "consent.accept": "Accepter et payer {amount}",
  "consent.refuse": "Refuser et ne rien payer",

  "role.PISP": "Prestataire de services d’initiation de paiement",
  "role.ASPSP": "Banque",

  "scheme.IBAN": "IBAN",
  "scheme.BBAN": "Numéro de compte",
  "scheme.SortCodeAccountNumber": "Code guichet (sort code) et numéro de compte",
  "scheme.PAN": "Numéro de carte",
  "scheme.cardEnding": "se terminant par {ending}",
  "scheme.Paym": "Numéro de mobile",
  "scheme.Wallet": "Portefeuille électronique",

  "error.happened": "Ce qui s’est passé",
  "error.money": "De l’argent a\u2011t\u2011il été transféré\u00a0?",
  "error.noMoney": "Non. Aucun argent n’a été transféré depuis cette page.",
  "error.nothingAgain":
    "Pas en ouvrant cette page. Si vous avez déjà payé, la boutique ou l’application d’où vous venez l’indique.",
  "error.todo": "Ce que vous pouvez faire",
  "error.wayBack": "Revenir à la boutique ou à l’application",
  "error.help": "Si vous demandez de l’aide, donnez ce numéro\u00a0:",

  "error.link_unusable.title": "Ce lien ne peut pas être utilisé",
  "error.link_unusable.happened": "Le lien est trop ancien, a déjà servi ou est incomplet.",
  "error.link_unusable.todo":
    "Retournez dans la boutique ou l’application d’où vous venez. Si votre paiement n’y figure pas, recommencez-le.",
  "error.finished.title": "Cette demande de paiement est terminée",
  "error.finished.happened":
    "Le paiement a déjà été accepté ou refusé, ou le délai pour décider est écoulé. Il n’est plus possible de décider ici.",
  "error.finished.todo":
    "Retournez dans la boutique ou l’application d’où vous venez pour voir si le paiement a été effectué.",
  "error.accepted.title": "Ce paiement a déjà été accepté",
  "error.accepted.happened":
    "Le paiement a été accepté auparavant, par exemple dans un autre onglet ou une autre fenêtre. Votre choix sur cette page n’y a rien changé.",
  "error.accepted.todo":
    "Retournez dans la boutique ou l’application d’où vous venez pour voir si le paiement a été effectué. Si vous n’en voulez pas, demandez de l’aide à la boutique, à l’application ou à votre banque.",
  "error.refused.title": "Ce paiement a déjà été refusé",
  "error.refused.happened":
    "Le paiement a été refusé auparavant, par exemple dans un autre onglet ou une autre fenêtre, ou par votre banque. Votre choix sur cette page n’y a rien changé.",
  "error.refused.todo":
    "Si vous souhaitez tout de même payer, recommencez le paiement dans la boutique ou l’application d’où vous venez.",
  "error.other_browser.title": "Continuez dans le navigateur où vous avez commencé",
  "error.other_browser.happened":
    "Ce paiement a été commencé dans un autre navigateur ou sur un autre appareil. Pour votre sécurité, il ne peut être terminé que là où il a été commencé.",
  "error.other_browser.todo":
    "Ouvrez le navigateur où vous avez commencé le paiement et terminez-le dans celui-ci, ou recommencez-le dans la boutique ou l’application. Les cookies doivent être autorisés.",
  "error.not_authentic.title": "La réponse de votre banque n’a pas pu être confirmée",
  "error.not_authentic.happened":
    "Nous n’avons pas pu nous assurer que cette réponse vient bien de votre banque\u00a0: nous ne l’avons pas utilisée.",
  "error.not_authentic.todo":
    "Retournez dans la boutique ou l’application d’où vous venez. Si votre paiement n’y figure pas, recommencez-le. Si cela se reproduit, contactez votre banque.",
  "error.not_found.title": "Il n’y a rien à cette adresse",
  "error.not_found.happened": "L’adresse est erronée ou la page n’existe plus.",
  "error.not_found.todo":
    "Vérifiez l’adresse ou retournez dans la boutique ou l’application d’où vous venez.",
  "error.wrong_method.title": "Cette adresse ne peut pas être utilisée ainsi",
  "error.wrong_method.happened":
    "Votre navigateur a envoyé quelque chose que cette page n’accepte pas, ou l’a ouverte d’une façon non prévue.",
  "error.wrong_method.todo":
    "Retournez dans la boutique ou l’application d’où vous venez. Si votre paiement n’y figure pas, recommencez-le.",
  "error.unavailable.title": "Un problème est survenu de notre côté",
  "error.unavailable.happened": "Nous n’avons pas pu terminer cette étape. Ce n’est pas votre faute.",
  "error.unavailable.todo":
    "Patientez une minute et réessayez. Si cela ne fonctionne toujours pas, recommencez le paiement dans la boutique ou l’application d’où vous venez.",
  "error.too_large.title": "Trop d’informations ont été envoyées à la fois",
  "error.too_large.happened":
    "Votre navigateur a envoyé plus que ce que cette page peut recevoir\u00a0: rien n’a été lu.",
  "error.too_large.todo":
    "Retournez dans la boutique ou l’application d’où vous venez et recommencez le paiement.",
};
