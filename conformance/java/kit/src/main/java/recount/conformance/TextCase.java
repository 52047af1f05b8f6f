package recount.conformance;

/**
 * A question to the library: does it take this text, and what does it make of it?
 *
 * @param name what the case is about
 * @param kind what the text is to be read as
 * @param text the text
 */
public record TextCase(String name, String kind, String text) {}
