export const options = { scenarios: {} };
export default function () {}
