export const options = undefined;
export default function () {}
