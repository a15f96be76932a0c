/** In the text of every error that the simulation injects: what it causes is no fault of the platform. */
export const INJECTED = "injected by the simulation";
