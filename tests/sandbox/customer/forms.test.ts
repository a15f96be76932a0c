import { assertEquals, assertThrows } from "@std/assert";
import { fillForm, findForms, firstHeading } from "../../../src/sandbox/customer/forms.ts";

const consentPage =
  `<!DOCTYPE html><html><head><style>form{}</style><script>"<form id=no>"</script></head><body>
  <!-- <form id="commented"><input name="x"></form> -->
  <h1>Confirm &amp; pay <em>EUR&nbsp;12.50</em></h1>
  <form action="/search"><input name="q"></form>
  <FORM id='consent' METHOD=post action="/BANKA/consent?flow=1&amp;x=2">
    <input type="hidden" name="csrf" value="a&quot;b&#39;c&#x3e;d">
    <label><input type="radio" name="account" value="0" disabled> Savings &lt;low></label>
    <label><input name="account" type="radio" value="1"/> Current</label>
    <input type="text" name="note" value=plain title="a > b">
    <input type="checkbox" name="remember" checked><input type="checkbox" name="ads">
    <input name="off" value="x" disabled><input type="reset" name="r">
    <button name="decision" value="accept">Accept</button>
    <button type="submit" name="decision" value="refuse">Reject</button>
    <button type="button" name="help">Help</button>
  </FORM></body></html>`;

Deno.test("findForms finds the page's forms and nothing in comments or scripts", () => {
  const forms = findForms(consentPage);
  assertEquals(forms.map(({ id, method, action }) => [id, method, action]), [
    ["", "get", "/search"],
    ["consent", "post", "/BANKA/consent?flow=1&x=2"],
  ]);
});

Deno.test("findForms reads fields and buttons with their entities decoded", () => {
  const form = consentForm();
  assertEquals(form.fields.map(({ name, type, value }) => [name, type, value]), [
    ["csrf", "hidden", `a"b'c>d`],
    ["account", "radio", "0"],
    ["account", "radio", "1"],
    ["note", "text", "plain"],
    ["remember", "checkbox", "on"],
    ["ads", "checkbox", "on"],
    ["off", "text", "x"],
  ]);
  assertEquals(form.buttons.map(({ name, value }) => [name, value]), [["decision", "accept"], [
    "decision",
    "refuse",
  ]]);
});

Deno.test("fillForm posts every enabled field, the chosen radio and the pressed button", () => {
  const body = fillForm(consentForm(), { account: "1" }, { name: "decision", value: "accept" });
  assertEquals([...body], [
    ["csrf", `a"b'c>d`],
    ["account", "1"],
    ["note", "plain"],
    ["remember", "on"],
    ["decision", "accept"],
  ]);
});

Deno.test("fillForm leaves out a radio that was not chosen", () => {
  const body = fillForm(consentForm(), {}, { name: "decision", value: "refuse" });
  assertEquals(body.has("account"), false);
});

Deno.test("fillForm posts one option of a list, and nothing for a button without a name", () => {
  const [form] = findForms(`<form id="shop" method="post">
    <select name="bank"><option value="BANKA">Bank A</option><option>BANKB</option></select>
    <select name="country"><option value="FR"><option value="ES" selected></select><button>Pay</button></form>`);
  if (form === undefined) throw new Error("no form");
  const posted = (choices: Readonly<Record<string, string>>) =>
    fillForm(form, choices, { name: "", value: "" }).toString();
  assertEquals(posted({}), "bank=BANKA&country=ES");
  assertEquals(posted({ bank: "BANKB" }), "bank=BANKB&country=ES");
});

Deno.test("fillForm rejects what the form does not offer", async (t) => {
  const accept = { name: "decision", value: "accept" };
  await t.step("a disabled radio", () => {
    assertThrows(() => fillForm(consentForm(), { account: "0" }, accept), Error, "account");
  });
  await t.step("an unknown field", () => {
    assertThrows(() => fillForm(consentForm(), { username: "alice" }, accept), Error, "username");
  });
  await t.step("an unknown button", () => {
    assertThrows(() => fillForm(consentForm(), {}, { name: "decision", value: "confirm" }), Error, "confirm");
  });
});

Deno.test("firstHeading is the heading's text", () => {
  assertEquals(firstHeading(consentPage), "Confirm & pay EUR\u00a012.50");
  assertEquals(firstHeading("<p>none</p>"), "");
});

function consentForm(): ReturnType<typeof findForms>[number] {
  const form = findForms(consentPage).find(({ id }) => id === "consent");
  if (form === undefined) throw new Error("the form was not found");
  return form;
}
