/** The shop's style sheet, icon and script, as text. */
import base from "../../pages/base.css" with { type: "text" };
import shared from "../pages/frame.css" with { type: "text" };
import frame from "./frame.css" with { type: "text" };
import goods from "./goods.css" with { type: "text" };
import order from "./order.css" with { type: "text" };
import script from "./order.js" with { type: "text" };
import icon from "./shop.svg" with { type: "text" };

/** `/assets/shop.css`. */
export const shopStylesheet = [base, shared, frame, goods, order].join("\n");

/** `/assets/shop.svg`. */
export const shopIcon = icon;

/** `/assets/order.js`. */
export const orderScript = script;
