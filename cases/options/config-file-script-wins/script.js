export const options = { iterations: 3 };
export default function () {}
