export const teardown = 1;
export default function () {}
