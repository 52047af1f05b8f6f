package recount.conformance;

/**
 * A text that is parsed and written again by the library.
 *
 * @param name the name of the case
 * @param kind the kind that the text is parsed as
 * @param text the text
 */
public record TextCase(String name, String kind, String text) {}
