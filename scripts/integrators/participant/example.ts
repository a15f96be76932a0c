/** The details file of `deno task participant onboard`, to fill in (Decision E1 without the signing requests). */

/** An example for the role; its addresses work in a sandbox. */
export function exampleDetails(role: "PISP" | "ASPSP"): Record<string, unknown> {
  const contact = { name: "Full Name", email: "name@company.example", phone: "+57 601 555 0100" };
  const bank = role === "ASPSP";
  const home = `http://localhost:${bank ? 9001 : 9000}`; // both at once on one computer
  return {
    ...(bank ? { org_id: "BANKC" } : {}),
    org_name: bank ? "Bank C" : "Company Limited",
    registration_number: "900123456-7",
    role,
    contacts: [{ type: "business", ...contact }, { type: "technical", ...contact }],
    software: {
      client_name: bank ? "Bank C online" : "Company checkout",
      description: bank ? "Customers of Bank C confirm payments" : "Takes payments from bank accounts",
      version: "1.0",
      client_uri: `${home}/`,
      logo_uri: `${home}/logo.svg`,
      redirect_uris: [bank ? `${home}/BANKC/sca` : `${home}/callback`],
      environment: "Sandbox",
    },
    ...(bank ? { consent_managedby_bank: true, payment_orders_uri: `${home}/BANKC/payment-orders` } : {}),
  };
}
