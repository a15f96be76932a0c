/** The banks' customer messages in French. */
import type { Messages } from "./page_messages_en.ts";

/** The type checks completeness; a test compares the placeholders. */
export const MESSAGES_FR: Messages = {
  "frame.banks": "Banques d’essai",
  "frame.sandbox": "Essai",
  "frame.notReal": "Ceci est une banque simulée. Aucun argent réel ne circule.",
  "frame.language": "Langue",
  "frame.skip": "Aller au contenu principal",
  "frame.error": "Erreur\u00a0: {title}",

  "login.title": "Identifiez-vous",
  "login.asks": "{tpp} demande un paiement depuis votre compte. Identifiez-vous pour le voir et l’autoriser.",
  "login.username": "Identifiant",
  "login.password": "Mot de passe",
  "login.hint": "Client d’essai\u00a0: {username}, mot de passe {password}",
  "login.continue": "Continuer",
  "login.cancel": "Annuler",

  "code.confirmTitle": "Confirmez que c’est bien vous",
  "code.authoriseTitle": "Autorisez le paiement",
  "code.accountNext": "Vous choisirez le compte à débiter à la page suivante.",
  "code.label": "Code à usage unique",
  "code.hint": "Dans l’environnement d’essai, le code est toujours {code}",
  "code.confirm": "Confirmer",
  "code.authorise": "Autoriser",
  "code.refuse": "Refuser",

  "consent.title": "Autorisez le paiement",
  "consent.payFrom": "Payer depuis",
  "consent.balance": "Solde\u00a0: {amount}",
  "consent.otherCurrency": "Ce compte n’est pas en {currency}\u00a0: le paiement serait rejeté.",
  "consent.insufficientFunds": "Solde insuffisant\u00a0: le paiement serait rejeté.",

  "payment.title": "Paiement",
  "payment.amount": "Montant",
  "payment.payee": "Bénéficiaire, selon {tpp} (non vérifié)",
  "payment.unnamed": "Bénéficiaire sans nom",
  "payment.payeeAccount": "Compte du bénéficiaire",
  "payment.debtorAccount": "Depuis votre compte",
  "payment.reference": "Référence, selon {tpp}",
  "payment.askedBy": "Demandé par",

  "complaint.wrong_credentials": "L’identifiant ou le mot de passe est incorrect.",
  "complaint.wrong_code": "Le code est incorrect.",
  "complaint.no_account": "Choisissez le compte à débiter.",
  "tries.one": "Il reste 1 essai.",
  "tries.two": "Il reste 2 essais.",
  "tries.other": "Il reste {count} essais.",

  "problem.not_found.title": "Page introuvable",
  "problem.not_found.text": "Il n’y a rien à cette adresse.",
  "problem.toBanks": "Voir les banques de cet environnement d’essai",
  "problem.unavailable.title": "Réessayez dans un instant",
  "problem.unavailable.text":
    "La banque ne peut pas continuer pour le moment. Aucun argent n’a circulé depuis cette page. Rechargez la page ou retournez à la boutique.",
  "problem.link.title": "Ce lien ne peut pas être utilisé",
  "problem.link.text":
    "Ce lien n’est pas valable ou a déjà été utilisé. L’ouvrir ne déclenche aucun paiement. Retournez à la boutique et recommencez.",
  "problem.over.title": "Votre visite est terminée",
  "problem.over.text":
    "Cette visite est terminée ou a été commencée dans un autre navigateur. Retournez à la boutique pour voir où en est votre paiement.",
  "problem.form.title": "Veuillez recommencer",
  "problem.form.text":
    "Ce formulaire ne correspond pas à votre visite\u00a0: rien n’a été fait. Aucun argent n’a circulé.",

  "list.title": "Banques",
  "home.title": "À propos de {bank}",
  "home.known": "Une banque de l’environnement d’essai, que la plateforme connaît sous le nom de {code}.",
  "home.ownScreen": "Cette banque affiche son propre écran de consentement.",
  "home.platformScreen": "Cette banque laisse l’écran de consentement à la plateforme.",
  "home.secrets":
    "Les clients arrivent ici depuis une boutique, en passant par la plateforme. Le mot de passe est toujours {password} et le code à usage unique toujours {code}.",
  "home.username": "Identifiant {username}",
  "home.ledger": "Ordres de paiement exécutés et soldes (JSON)",
  "faults.title": "Quand quelque chose échoue",
  "faults.text":
    "Un paiement de l’un de ces montants fait échouer cette banque à chaque fois. Pour tout autre paiement, envoyez {body} en JSON, par POST, à {path}.",

  "account.current": "Compte courant",
  "account.savings": "Compte d’épargne",
  "account.sterling": "Compte en livres sterling",
};
