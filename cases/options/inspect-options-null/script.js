export const options = null;
export default function () {}
