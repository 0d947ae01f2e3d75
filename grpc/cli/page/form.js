// The form of a message, and the message that was typed in.

import { element } from "./element.js";

/** Fields as elements; `read()` gives the message in protobuf's JSON. */
export function makeForm(fields) {
  const parts = fields.map((field) => ({ field, ...makeField(field) }));
  return {
    elements: parts.map(({ part }) => part),
    read() {
      const message = {};
      for (const { field, read } of parts) {
        const value = read();
        if (value !== undefined) message[field.name] = value;
      }
      return message;
    },
  };
}

function makeField(field) {
  if (field.input === "fields") {
    const { elements, read } = makeForm(field.fields);
    const part = element("fieldset", {}, element("legend", {}, field.label), ...elements);
    return { part, read: () => unlessEmpty(field, read()) };
  }
  const input = makeInput(field);
  const text = [field.label, " ", element("small", {}, field.type)];
  if (field.input === "boolean") {
    const part = element("label", { class: "check" }, input, element("span", {}, ...text));
    return { part, read: () => unlessInitial(field, input.checked) };
  }
  const part = element("label", {}, element("span", {}, ...text), input);
  return { part, read: () => unlessInitial(field, readInput(field, input)) };
}

/** A value that is as it was before anybody typed is not sent: of a oneof, one member is enough. */
function unlessInitial({ initial, required }, value) {
  return value === initial && !required ? undefined : value;
}

function unlessEmpty({ required }, message) {
  return Object.keys(message).length === 0 && !required ? undefined : message;
}

function makeInput({ name, input, repeated, initial, range, choices }) {
  const common = { name, spellcheck: "false", autocapitalize: "off", autocomplete: "off" };
  if (input === "boolean") {
    return element("input", { name, type: "checkbox", checked: initial === true });
  }
  if (input === "choice") {
    const options = choices.map((choice) =>
      element("option", { value: choice, selected: choice === initial }, choice)
    );
    return element("select", { name }, ...options);
  }
  if (repeated) return element("textarea", { ...common, placeholder: "one value a line" });
  if (input === "json") return element("textarea", { ...common, placeholder: "JSON" });
  // Numbers are typed as text: number fields would round those of 64 bits.
  const pattern = input === "number" ? (range === null ? null : "-?[0-9]+") : null;
  const title = range === null ? null : `a whole number from ${range[0]} to ${range[1]}`;
  const mode = input === "number" ? (range === null ? "decimal" : "numeric") : null;
  return element("input", { ...common, value: initial, inputmode: mode, pattern, title });
}

function readInput({ label, input, repeated, range }, { value }) {
  if (repeated) {
    const lines = value.split("\n").filter((line) => line !== "");
    return lines.length === 0 ? undefined : lines;
  }
  if (input === "json") {
    if (value.trim() === "") return undefined;
    try {
      return JSON.parse(value);
    } catch (error) {
      throw new Error(`${label} is no JSON: ${error.message}`);
    }
  }
  if (input === "number" && value === "") return undefined;
  if (range !== null && (BigInt(value) < BigInt(range[0]) || BigInt(value) > BigInt(range[1]))) {
    throw new Error(`${label} must be ${range[0]} to ${range[1]}: it is ${value}`);
  }
  // Protobuf's JSON takes numbers as text too.
  return value;
}
