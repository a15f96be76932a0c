/** The banks' one style sheet and their logo, as text. */
import base from "../../pages/base.css" with { type: "text" };
import shared from "../pages/frame.css" with { type: "text" };
import frame from "./frame.css" with { type: "text" };
import logo from "./logo.svg" with { type: "text" };
import visit from "./visit.css" with { type: "text" };

/** Served as `/assets/bank.css`. */
export const STYLESHEET = [base, shared, frame, visit].join("\n");

/** Served as `/logo.svg`, the `logo_uri` given at onboarding. */
export const LOGO = logo;
