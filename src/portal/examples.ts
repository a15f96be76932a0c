/** The examples that the documents name, for readers without the repository. */
export { default as "first_bank.ts" } from "../../examples/first_bank.ts" with { type: "text" };
export { default as "first_payment.go" } from "../../examples/first_payment.go" with { type: "text" };
export { default as "first_payment.py" } from "../../examples/first_payment.py" with { type: "text" };
export { default as "first_payment.sh" } from "../../examples/first_payment.sh" with { type: "text" };
export { default as "first_payment.ts" } from "../../examples/first_payment.ts" with { type: "text" };
export { default as "FirstPayment.java" } from "../../examples/FirstPayment.java" with { type: "text" };
export { default as "pay.ts" } from "../../examples/pay.ts" with { type: "text" };
